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
// apo:tune       COLUMNS 8
// apo:tune       UNROLL 16,4
// apo:launch     forward grid=B*H block=1024/COLUMNS+64
#include "e88_forward.args.h"
#include "lane_chunks.cuh"
#include "split_steps.cuh"

namespace {

constexpr int kHelpers = 2;  // warps that prepare and finish, eight steps each

// Where a helper's lane works: elements part..part+7 of a step of chunk `index`, if there is such a chunk and step.
struct Slice {
  int step, part;
  bool there;
  long long row, at;
  __device__ Slice(const e88_forward_args& a, int helper, int lane, long long index)
      : step(8 * helper + lane / 4),
        part(lane % 4 * 8),
        there(index >= 0 && index * kSegment + step < a.T),
        row((blockIdx.x / a.H * a.T + index * kSegment + step) * a.H + blockIdx.x % a.H),
        at(row * kSide + part) {}
};

// Of a lane, on its way from memory: all is asked for at once and a turn before it is needed, since a helper that waits
// for memory several times in a turn takes longer than the steps.
struct Coming {
  uint4 k, q, v, gates;
  bf16 decay;
};

__device__ Coming fetch(const e88_forward_args& a, const Slice& prepared, const Slice& finished) {
  return {load_words(a.k + prepared.at, prepared.there), load_words(a.q + prepared.at, prepared.there),
          load_words(a.v + prepared.at, prepared.there), load_words(a.g + finished.at, finished.there && kGATE),
          prepared.there ? a.decay[prepared.row] : bf16()};
}

__device__ void prepare(const Coming& in, Chunk& chunk, const Slice& z) {
  store_unit<4>(in.k, &chunk.k[z.step][z.part]);
  store_unit<4>(in.q, &chunk.q[z.step][z.part]);
  store_eight(unpack(in.v), &chunk.v[z.step][z.part]);
  if (z.part == 0) {
    chunk.decay[z.step] = load(in.decay);
  }
}

__device__ void finish(const e88_forward_args& a, const Coming& in, const Chunk& chunk, const Slice& z) {
  if (z.there) {
    store_output<logistic>(a, sum_shares(&chunk.y[z.step + 1][z.part]), in.gates, z.at);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(1024 / COLUMNS + 32 * kHelpers) forward(const e88_forward_args a) {
  alignas(16) __shared__ Chunk chunks[3];  // one is prepared, one is stepped through, one is finished
  const int warp = uniform_warp(), lane = threadIdx.x % 32;
  const bool helps = warp >= kWarps;
  const long long count = (a.T + kSegment - 1) / kSegment, own = blockIdx.x * static_cast<long long>(kState);
  const ColumnPlace p(warp, lane);
  const auto slice = [&](long long index) { return Slice(a, warp - kWarps, lane, index); };
  float S[COLUMNS];
  Coming in;
  if (helps) {
    in = fetch(a, slice(0), slice(-2));
  } else {
    load_own(p, a.s0 + own, S);
  }
#pragma unroll 1
  for (long long turn = 0; turn < count + 2; ++turn) {
    const long long stepped = turn - 1;
    if (helps) {
      if (turn < count) {
        prepare(in, chunks[turn % 3], slice(turn));
      }
      const Coming next = fetch(a, slice(turn + 1), slice(turn - 1));
      finish(a, in, chunks[(turn + 1) % 3], slice(turn - 2));
      in = next;
    } else if (stepped >= 0 && stepped < count) {
      store_own(p, S, a.checkpoints + stepped * a.B * a.H * kState + own);
      take_chunk(chunks[stepped % 3], p,
                 static_cast<int>(min(static_cast<long long>(kSegment), a.T - stepped * kSegment)), S);
    }
    __syncthreads();
  }
  if (!helps) {
    store_own(p, S, a.s_final + own);
  }
}
