// apo:variant    matmul_bf16/cuda_few_rows
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  loads-ahead
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       Up to 16 rows of a: b streams by once, its terms split among the warps of a block, through registers alone.
// apo:predict    5x..40x over parent: b is read once, 64 to 128 kB of it in flight on every multiprocessor.
// apo:tune       ROWS 16,32
// apo:tune       WARPS 8,16
// apo:tune       ROUNDS 2,1
// apo:requires   M <= 16 && K % 8 == 0
// apo:launch     multiply grid=ceil_div(N,ROWS) block=32*WARPS
//
// A block owns ROWS rows of b, and each of its warps 64 terms of every 64 * WARPS, a round; ROUNDS of them are
// under way. Both operands go to the tensor cores as they lie: a lane loads 8 neighbouring terms of a row, and since a
// sum may be taken in any order, its words are the fragments of two products (mma.m16n8k16 has the terms 2t, 2t + 1,
// 2t + 8 and 2t + 9 in lane t of four; here these are the terms 8t to 8t + 3 and 8t + 4 to 8t + 7). b is the left
// operand, whose 16 rows are columns of the result. The warps' sums meet in shared memory, always in the same order.
#include "matmul_bf16.args.h"
#include "mma_bf16.cuh"

namespace {

constexpr int kRows = ROWS, kSteps = kRows / 16;  // a step takes 16 rows of b
constexpr int kWarps = WARPS, kTerms = 64;
constexpr int kMost = 16;             // rows of a
constexpr int kPieces = kTerms / 32;  // of a row, each 8 terms of four lanes

// This lane's part of a row: of `terms` terms from `from` on, 8 of each 32.
struct Strip {
  uint4 of[kPieces];

  __device__ void load(const bf16* from, long long terms) {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      of[piece] = load_words(from + 32 * piece, 32 * piece < terms);
    }
  }
};

// 16 rows of b times 16 of a.
__device__ void add_products(float (&sums)[2][4], const Strip (&b)[2], const Strip (&a)[2]) {
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece) {
    const uint4 &upper = b[0].of[piece], &lower = b[1].of[piece];
    const unsigned first[4] = {upper.x, lower.x, upper.y, lower.y}, second[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      mma(sums[m], first, a[m].of[piece].x, a[m].of[piece].y);
      mma(sums[m], second, a[m].of[piece].z, a[m].of[piece].w);
    }
  }
}

}  // namespace

extern "C" __global__ __launch_bounds__(32 * WARPS, 1) void multiply(const matmul_bf16_args a) {
  __shared__ float parts[kWarps][kMost][kRows + 4];  // 4 more, so that the lanes of a store are in different banks
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const long long first = 1LL * kRows * blockIdx.x;
  Strip b[ROUNDS][kSteps][2], rows[ROUNDS][2];
  // 16 rows of a matrix of `count` rows; the results of rows beyond them are not stored.
  const auto load = [&](Strip(&to)[2], const bf16* matrix, long long row, long long count, long long k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      to[half].load(matrix + min(row + 8 * half + g, count - 1) * a.K + k, a.K - k);
    }
  };
  constexpr long long kRound = kTerms * kWarps;
  const long long own = warp * kTerms + 8 * t;
#pragma unroll
  for (int round = 0; round < ROUNDS; ++round) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      load(b[round][step], a.b, first + 16 * step, a.N, own + round * kRound);
    }
    load(rows[round], a.a, 0, a.M, own + round * kRound);
  }
  float sums[kSteps][2][4] = {};
  for (long long begin = own; begin < a.K + own; begin += ROUNDS * kRound) {
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
      const long long next = begin + (round + ROUNDS) * kRound;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        add_products(sums[step], b[round][step], rows[round]);
        load(b[round][step], a.b, first + 16 * step, a.N, next);
      }
      load(rows[round], a.a, 0, a.M, next);
    }
  }
#pragma unroll
  for (int i = 0; i < 8 * kSteps; ++i) {
    parts[warp][i % 8 / 4 * 8 + 2 * t + i % 2][i / 8 * 16 + g + i % 4 / 2 * 8] = sums[i / 8][i % 8 / 4][i % 4];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kMost * kRows; i += 32 * kWarps) {
    const int m = i / kRows, n = i % kRows;
    float sum = 0;
#pragma unroll
    for (int from = 0; from < kWarps; ++from) {
      sum += parts[from][m][n];
    }
    if (m < a.M && first + n < a.N) {
      a.c[m * a.N + first + n] = sum;
    }
  }
}
