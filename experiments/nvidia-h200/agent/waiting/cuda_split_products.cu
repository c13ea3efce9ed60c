// apo:variant    e88_forward/cuda_split_products
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  split-sequence
// apo:technique  warp-specialisation
// apo:technique  register-owned
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_split_warps
// apo:idea       Retrieval and y are fp16 products of the state, packed, with the upper and lower halves of k and q: no shuffle in the chain of a step, and none for y.
// apo:predict    1.02x..1.22x over parent: no shuffle is left in a step where six are, and its chain is a product, four operations, a tanh and a conversion: some 115 cycles of 254.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647 && COLUMNS == 8
// apo:tune       COLUMNS 8
// apo:launch     forward grid=B*H block=1024/COLUMNS+64
#include "e88_forward.args.h"
#include "e88_split.cuh"
#include "half_products.cuh"
#include "lane_chunks.cuh"

namespace {

constexpr int kHelpers = 2;  // warps that prepare and finish, eight steps each
constexpr int kSide = kSideOfState;

// The inputs of a chunk as the steps need them, and what they make of it.
struct Chunk {
  float k[kSegment][kSide], v[kSegment][kSide], y[kSegment][kSide];
  HalfVector half_k[kSegment + 1], half_q[kSegment];  // the last k is read but never used
  float decay[kSegment];
};

// sum_i S[i][j] x[i] of the lane's column, in all lanes that share it. Half of the left operand's rows are not there.
__device__ float product(const uint4& S, const uint4& x) {
  float first[4] = {}, second[4] = {};
  multiply_halves(first, {S.x, 0, S.y, 0}, x.x, x.y);
  multiply_halves(second, {S.z, 0, S.w, 0}, x.z, x.w);
  return ((first[0] + first[1]) + (second[0] + second[1])) * (1.0f / kHalfScale);
}

__device__ uint4 packed(const float (&S)[COLUMNS]) {
  Eight scaled;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    scaled.x[r] = S[r] * kHalfScale;
  }
  return upper_halves(scaled);
}

// The steps of a chunk; a lane keeps y of every fourth step. Without a store between them the steps' operands are asked
// for ahead.
template <bool kWhole>
__device__ void take_steps(Chunk& chunk, const ColumnPlace& p, int steps, float (&S)[COLUMNS]) {
  float y[kSegment / kLanes] = {};
  float retrieved = product(packed(S), chunk.half_k[0].operand());
#pragma unroll
  for (int s = 0; s < kSegment; ++s) {
    if (kWhole || s < steps) {
      float k[COLUMNS];
      load_rows(&chunk.k[s][p.first_row], k);
      const uint4 next_k = chunk.half_k[s + 1].operand(), q = chunk.half_q[s].operand();
      const float decay = chunk.decay[s], delta = chunk.v[s][p.column] - retrieved;
#pragma unroll
      for (int r = 0; r < COLUMNS; ++r) {
        S[r] = tanh_approx(decay * S[r] + k[r] * delta);
      }
      const uint4 words = packed(S);
      retrieved = product(words, next_k);
      const float summed = product(words, q);
      y[s / kLanes] = p.group == s % kLanes ? summed : y[s / kLanes];
    }
  }
#pragma unroll
  for (int i = 0; i < kSegment / kLanes; ++i) {
    chunk.y[i * kLanes + p.group][p.column] = y[i];
  }
}

__device__ void take_chunk(Chunk& chunk, const ColumnPlace& p, int steps, float (&S)[COLUMNS]) {
  if (steps == kSegment) {
    take_steps<true>(chunk, p, steps, S);
  } else {
    take_steps<false>(chunk, p, steps, S);
  }
}

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

// k^ or q^: four neighbouring lanes hold a row, eight entries each.
__device__ Eight unit_of(const uint4& words) {
  Eight x = unpack(words);
  const float squares = sum_of_lanes<4>(dot_of_eight(x, x));
  scale(x, kNORM ? rsqrtf(squares + 1e-12f) : 1.0f);
  return x;
}

__device__ void prepare(const e88_forward_args& a, Chunk& chunk, const Slice& z) {
  const uint4 k = load_words(a.k + z.at, z.there), q = load_words(a.q + z.at, z.there);
  const uint4 v = load_words(a.v + z.at, z.there);
  const Eight unit_k = unit_of(k);
  store_eight(unit_k, &chunk.k[z.step][z.part]);
  chunk.half_k[z.step].store(unit_k, z.part);
  chunk.half_q[z.step].store(unit_of(q), z.part);
  store_eight(unpack(v), &chunk.v[z.step][z.part]);
  if (z.part == 0) {
    chunk.decay[z.step] = z.there ? load(a.decay[z.row]) : 0.0f;
  }
}

__device__ void finish(const e88_forward_args& a, const Chunk& chunk, const Slice& z) {
  if (z.there) {
    const uint4 gates = kGATE ? *reinterpret_cast<const uint4*>(a.g + z.at) : uint4{};
    store_output<logistic>(a, load_eight(&chunk.y[z.step][z.part]), gates, z.at);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(1024 / COLUMNS + 32 * kHelpers) forward(const e88_forward_args a) {
  alignas(16) __shared__ Chunk chunks[3];  // one is prepared, one is stepped through, one is finished
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  const long long count = (a.T + kSegment - 1) / kSegment;
  const ColumnPlace p(warp, lane);
  const long long own = sequence * kState + p.first_element();
  float S[COLUMNS];
  for (int i = threadIdx.x; i < 24; i += blockDim.x) {
    chunks[i / 8].half_k[kSegment].parts[i % 8] = uint4{};
  }
  if (warp < kWarps) {
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      S[r] = load(a.s0[own + r * kSide]);
    }
  }
  for (long long turn = 0; turn < count + 2; ++turn) {
    const long long prepared = turn, stepped = turn - 1, finished = turn - 2;
    if (warp < kWarps) {
      if (stepped >= 0 && stepped < count) {
        bf16* checkpoint = a.checkpoints + stepped * a.B * a.H * kState + own;
#pragma unroll
        for (int r = 0; r < COLUMNS; ++r) {
          checkpoint[r * kSide] = store(S[r]);
        }
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
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      a.s_final[own + r * kSide] = store(S[r]);
    }
  }
}
