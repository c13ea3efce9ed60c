// apo:variant    matmul_bf16/cuda_few_rows
// apo:target     cuda sm_90
// apo:technique  tensor-core
// apo:technique  loads-ahead
// apo:technique  cluster-sums
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       Up to 16 rows of a wait in registers while b streams by, split along k among the warps of two blocks.
// apo:predict    5x..40x over parent: b is read once, 128 kB of it in flight on every multiprocessor.
// apo:tune       SPLIT 2,1
// apo:tune       ROWS 64,32,128
// apo:tune       WARPS 16,8
// apo:tune       TERMS 64,128,256
// apo:requires   M <= 16 && K % 8 == 0
// apo:requires   WARPS * TERMS <= (WARPS == 8 ? 2048 : 1024)
// apo:launch     multiply grid=SPLIT*ceil_div(N,ROWS) cluster=SPLIT block=32*WARPS shared=64*WARPS*(ROWS+4)+64*ROWS
//
// A cluster of SPLIT blocks owns ROWS rows of b, and each of its warps TERMS terms of every TERMS * WARPS * SPLIT. Both
// operands go to the tensor cores as they lie: a lane loads 8 neighbouring terms of a row, and since a sum may be taken
// in any order, its words are the fragments of two products (mma.m16n8k16 has the terms 2t, 2t + 1, 2t + 8 and 2t + 9
// in lane t of four; here these are the terms 8t to 8t + 3 and 8t + 4 to 8t + 7). b is the left operand, whose 16 rows
// are columns of the result. The warps' sums meet in shared memory, the blocks' in the block that stores them: always
// in the same order.
#include "clusters.cuh"
#include "matmul_bf16.args.h"
#include "mma_bf16.cuh"

namespace {

constexpr int kRows = ROWS, kSteps = kRows / 16;  // a step takes 16 rows of b
constexpr int kWarps = WARPS, kTerms = TERMS;
constexpr int kMost = 16;                       // rows of a
constexpr int kPitch = kRows + 4;               // of shared memory: the lanes of a store are in different banks
constexpr int kPieces = kTerms / 32;            // of a row, each 8 terms of four lanes
constexpr int kAtOnce = kWarps == 8 ? 32 : 16;  // loads of a lane in flight
constexpr int kFit = kAtOnce / (2 * kPieces);   // steps that have so many
constexpr int kInFlight = kFit < kSteps ? kFit : kSteps;
static_assert(kInFlight > 0 && kSteps % kInFlight == 0);

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
  extern __shared__ float memory[];
  const auto parts = reinterpret_cast<float(*)[kMost][kPitch]>(memory);  // of each warp
  float* const of_blocks = memory + kWarps * kMost * kPitch;             // of each block, the sums that this one stores
  const Cluster<SPLIT> cluster;
  cluster.begin();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const long long first = 1LL * kRows * cluster.index;
  constexpr long long kRound = 1LL * kTerms * kWarps * SPLIT;
  const long long own = (cluster.rank * kWarps + warp) * kTerms + 8 * t;
  Strip b[kInFlight][2], rows[2];
  const auto load = [&](int step, long long k) {
    long long pitch = a.K;
    asm volatile("" : "+l"(pitch));  // so that no address is computed before its step: registers are short
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long row = min(first + 16 * step + 8 * half + g, a.N - 1);  // sums of rows beyond are not stored
      b[step % kInFlight][half].load(a.b + row * pitch + k, a.K - k);
    }
  };
#pragma unroll
  for (int step = 0; step < kInFlight; ++step) {
    load(step, own);
  }
  for (long long round = 0; round < a.K; round += kRound) {
    const long long k = round + own;
    rows[0].load(a.a + min(1LL * g, a.M - 1) * a.K + k, a.K - k);
    rows[1].load(a.a + min(g + 8LL, a.M - 1) * a.K + k, a.K - k);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      float sums[2][4] = {};
      add_products(sums, b[step % kInFlight], rows);
      const int next = step + kInFlight;
      load(next % kSteps, next < kSteps ? k : k + kRound);  // of this round, or of the next one
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float& part = parts[warp][i / 4 * 8 + 2 * t + i % 2][16 * step + g + i % 4 / 2 * 8];
        part = sums[i / 4][i % 4] + (round == 0 ? 0 : part);
      }
    }
  }
  __syncthreads();
  cluster.wait();                               // until all blocks have begun
  constexpr int kSums = kMost * kRows / SPLIT;  // that a block stores
  for (int i = threadIdx.x; i < kMost * kRows; i += 32 * kWarps) {
    float sum = 0;
#pragma unroll
    for (int from = 0; from < kWarps; ++from) {
      sum += parts[from][i / kRows][i % kRows];
    }
    cluster.put(sum, of_blocks + cluster.rank * kSums + i % kSums, i / kSums);
  }
  cluster.meet();
  for (int i = threadIdx.x; i < kSums; i += 32 * kWarps) {
    float sum = 0;
#pragma unroll
    for (int block = 0; block < SPLIT; ++block) {
      sum += of_blocks[block * kSums + i];
    }
    const int at = cluster.rank * kSums + i;
    if (at / kRows < a.M && first + at % kRows < a.N) {
      a.c[at / kRows * a.N + first + at % kRows] = sum;
    }
  }
}
