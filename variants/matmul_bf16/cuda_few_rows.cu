// apo:variant    matmul_bf16/cuda_few_rows
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  loads-ahead
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       Up to 16 rows of a: b streams by once, its terms split among the warps of a block, through registers alone.
// apo:predict    5x..40x over parent: b is read once, 64 to 128 kB of it in flight on every multiprocessor.
// apo:tune       ROWS 32,16
// apo:tune       WARPS 16,8
// apo:tune       ROUNDS 2,1
// apo:tune       SPLIT 1,2,4
// apo:requires   M <= 16 && K % 8 == 0
// apo:launch     multiply grid=SPLIT*ceil_div(N,ROWS*SPLIT) cluster=SPLIT block=32*WARPS
//
// WARPS warps own ROWS rows of b, and each of them 64 terms of every 64 * WARPS, a round; ROUNDS of them are under way.
// With SPLIT above 1 (sm_90) the warps of these rows are in as many blocks, a cluster, and a block has warps of SPLIT
// times as many rows: it reads that part of a only, which is half as much as b where 32 rows of b meet 16 of a. Both
// operands go to the tensor cores as they lie: a lane loads 8 neighbouring terms of a row, and since a sum may be taken
// in any order, its words are the fragments of two products (mma.m16n8k16 has the terms 2t, 2t + 1, 2t + 8 and 2t + 9
// in lane t of four; here these are the terms 8t to 8t + 3 and 8t + 4 to 8t + 7). b is the left operand, whose 16 rows
// are columns of the result. The warps' sums meet in shared memory, always in the same order.
#include "clusters.cuh"
#include "matmul_bf16.args.h"
#include "mma_bf16.cuh"

namespace {

constexpr int kRows = ROWS, kSteps = kRows / 16;        // a step takes 16 rows of b
constexpr int kSplit = SPLIT, kWarps = WARPS / kSplit;  // of the block, of the same rows
constexpr int kRowsOfBlock = kRows * kSplit;
constexpr int kTerms = 64;
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
  // 4 more, so that the lanes of a store are in different banks
  __shared__ float parts[kWarps][kMost][kRowsOfBlock + 4];
  const Cluster<kSplit> cluster;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int warp = threadIdx.x / 32 % kWarps, own_row = threadIdx.x / 32 / kWarps % kSplit * kRows;
  const long long first = 1LL * kRowsOfBlock * cluster.index;
  Strip b[ROUNDS][kSteps][2], rows[ROUNDS][2];
  // 16 rows of a matrix of `count` rows; the results of rows beyond them are not stored.
  const auto load = [&](Strip(&to)[2], const bf16* matrix, long long row, long long count, long long k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      to[half].load(matrix + min(row + 8 * half + g, count - 1) * a.K + k, a.K - k);
    }
  };
  constexpr long long kRound = kTerms * WARPS;
  const long long own = (cluster.rank * kWarps + warp) * kTerms + 8 * t;
#pragma unroll
  for (int round = 0; round < ROUNDS; ++round) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      load(b[round][step], a.b, first + own_row + 16 * step, a.N, own + round * kRound);
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
        load(b[round][step], a.b, first + own_row + 16 * step, a.N, next);
      }
      load(rows[round], a.a, 0, a.M, next);
    }
  }
#pragma unroll
  for (int i = 0; i < 8 * kSteps; ++i) {
    const int n = own_row + i / 8 * 16 + g + i % 4 / 2 * 8;
    parts[warp][i % 8 / 4 * 8 + 2 * t + i % 2][n] = sums[i / 8][i % 8 / 4][i % 4];
  }
  __syncthreads();
  const auto store = [&](int m, int n, float sum) {
    if (m < a.M && first + n < a.N) {
      a.c[m * a.N + first + n] = sum;
    }
  };
  for (int i = threadIdx.x; i < kMost * kRowsOfBlock; i += 32 * WARPS) {
    const int m = i / kRowsOfBlock, n = i % kRowsOfBlock;
    float sum = 0;
#pragma unroll
    for (int from = 0; from < kWarps; ++from) {
      sum += parts[from][m][n];
    }
    if constexpr (kSplit == 1) {
      store(m, n, sum);
    } else {
      parts[0][m][n] = sum;
    }
  }
  if constexpr (kSplit > 1) {
    cluster.meet();
    for (int i = threadIdx.x; i < kMost * kRows; i += 32 * WARPS) {  // of the rows that come together in this block
      const int m = i / kRows, n = cluster.rank * kRows + i % kRows;
      store(m, n, cluster.sum(&parts[0][m][n]));
    }
    cluster.meet();  // until then others read here
  }
}
