// apo:variant    e88_forward/cuda_split_warps
// apo:target     cuda sm_80
// apo:technique  split-sequence
// apo:technique  warp-specialisation
// apo:technique  register-owned
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_best
// apo:idea       Columns never meet: 32/COLUMNS warps share a sequence, two more warps prepare its next chunk and finish its last, and a step's chain is an exchange, a product and a tanh, in a straight line.
// apo:predict    1.7x..3.5x over parent: a step of one warp waits 256 cycles for its 1024 tanh; of four columns it waits 32, and its chain is some 150 cycles.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647
// apo:tune       COLUMNS 8,16,4
// apo:tune       UNROLL 4,8,16
// apo:launch     forward grid=B*H block=1024/COLUMNS+64
#include "e88_forward.args.h"
#include "lane_chunks.cuh"
#include "split_steps.cuh"

namespace {

constexpr int kHelpers = 2;  // warps that prepare and finish, eight steps each

// Where a helper's lane works: elements part..part+7 of a step of the chunk.
struct Slice {
  int step, part;
  bool there;
  long long row, at;
  __device__ Slice(const e88_forward_args& a, int helper, int lane, long long first_row, int steps)
      : step(8 * helper + lane / 4),
        part(lane % 4 * 8),
        there(step < steps),
        row(first_row + step * a.H),
        at(row * kSide + part) {}
};

__device__ void prepare(const e88_forward_args& a, Chunk& chunk, const Slice& z) {
  const uint4 k = load_words(a.k + z.at, z.there), q = load_words(a.q + z.at, z.there);
  const uint4 v = load_words(a.v + z.at, z.there);
  store_unit<4>(k, &chunk.k[z.step][z.part]);
  store_unit<4>(q, &chunk.q[z.step][z.part]);
  store_eight(unpack(v), &chunk.v[z.step][z.part]);
  if (z.part == 0) {
    chunk.decay[z.step] = z.there ? load(a.decay[z.row]) : 0.0f;
  }
}

__device__ void finish(const e88_forward_args& a, const Chunk& chunk, const Slice& z) {
  if (z.there) {
    const uint4 gates = kGATE ? *reinterpret_cast<const uint4*>(a.g + z.at) : uint4{};
    store_output<logistic>(a, sum_shares(&chunk.y[z.step + 1][z.part]), gates, z.at);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(1024 / COLUMNS + 32 * kHelpers) forward(const e88_forward_args a) {
  alignas(16) __shared__ Chunk chunks[3];  // one is prepared, one is stepped through, one is finished
  const int warp = uniform_warp(), lane = threadIdx.x % 32;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  const long long count = (a.T + kSegment - 1) / kSegment;
  const ColumnPlace p(warp, lane);
  const long long own = sequence * kState;
  float S[COLUMNS];
  if (warp < kWarps) {
    load_own(p, a.s0 + own, S);
  }
  for (long long turn = 0; turn < count + 2; ++turn) {
    const long long prepared = turn, stepped = turn - 1, finished = turn - 2;
    if (warp < kWarps) {
      if (stepped >= 0 && stepped < count) {
        store_own(p, S, a.checkpoints + stepped * a.B * a.H * kState + own);
        take_chunk(chunks[stepped % 3], p, min(static_cast<long long>(kSegment), a.T - stepped * kSegment), S);
      }
    } else {
      if (prepared < count) {
        const long long first = prepared * kSegment;
        prepare(a, chunks[prepared % 3],
                Slice(a, warp - kWarps, lane, (b * a.T + first) * a.H + h,
                      min(static_cast<long long>(kSegment), a.T - first)));
      }
      if (finished >= 0) {
        const long long first = finished * kSegment;
        finish(a, chunks[finished % 3],
               Slice(a, warp - kWarps, lane, (b * a.T + first) * a.H + h,
                     min(static_cast<long long>(kSegment), a.T - first)));
      }
    }
    __syncthreads();
  }
  if (warp < kWarps) {
    store_own(p, S, a.s_final + own);
  }
}
