// apo:variant    matmul_bf16/cuda_few_rows
// apo:target     cuda sm_90
// apo:technique  tensor-core
// apo:technique  loads-ahead
// apo:technique  cluster-sums
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       Up to 16 rows of a stay in registers while b, split along k among warps and the blocks of a cluster, streams by.
// apo:predict    5x..40x over parent: b is read once, 128 kB of it in flight on every multiprocessor.
// apo:tune       SPLIT 4,8,2
// apo:tune       IN_FLIGHT 4,3,2
// apo:requires   M <= 16 && K % 8 == 0
// apo:launch     multiply grid=SPLIT*ceil_div(N,128) cluster=SPLIT block=512 shared=135168
//
// A cluster owns 128 rows of b, and each of its warps 64 terms of every 1024 * SPLIT. Both operands go to the tensor
// cores as they lie: a lane loads 8 neighbouring terms of a row, and since a sum may be taken in any order, its words
// are the fragments of two products (mma.m16n8k16 has the terms 2t, 2t + 1, 2t + 8 and 2t + 9 in lane t of four; here
// these are the terms 8t to 8t + 3 and 8t + 4 to 8t + 7). b is the left operand, whose 16 rows are columns of the
// result. The warps' sums meet in shared memory, and the blocks' over the cluster: always in the same order.
#include "clusters.cuh"
#include "matmul_bf16.args.h"
#include "mma_bf16.cuh"

namespace {

constexpr int kWarps = 16, kTerms = 64;          // of each at a time
constexpr int kRows = 128, kSteps = kRows / 16;  // rows of b of a cluster; a step takes 16 of them
constexpr int kMost = 16;                        // rows of a
constexpr int kPitch = kRows + 4;                // of shared memory: the lanes of a store are in different banks
constexpr int kInFlight = IN_FLIGHT;             // steps

// Two rows of 64 terms, 8 and 32 further on 8 of them: [term / 32].
struct Strip {
  uint4 of[2];

  __device__ void load(const bf16* matrix, long long row, long long rows, long long k, long long terms) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      of[half] = load_words(matrix + row * terms + k + 32 * half, row < rows && k + 32 * half < terms);
    }
  }
};

// 16 rows of b times 16 of a, over 64 terms.
__device__ void add_products(float (&sums)[2][4], const Strip (&b)[2], const Strip (&a)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint4 &upper = b[0].of[half], &lower = b[1].of[half];
    const unsigned first[4] = {upper.x, lower.x, upper.y, lower.y}, second[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      mma(sums[m], first, a[m].of[half].x, a[m].of[half].y);
      mma(sums[m], second, a[m].of[half].z, a[m].of[half].w);
    }
  }
}

}  // namespace

extern "C" __global__ __launch_bounds__(512, 1) void multiply(const matmul_bf16_args a) {
  extern __shared__ float memory[];
  float(*const parts)[kMost][kPitch] = reinterpret_cast<float(*)[kMost][kPitch]>(memory);  // of each warp
  const Cluster<SPLIT> cluster;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const long long first = 1LL * kRows * cluster.index;
  for (long long begin = 0; begin < a.K; begin += kTerms * kWarps * SPLIT) {
    const long long k = begin + (cluster.rank * kWarps + warp) * kTerms + 8 * t;
    Strip b[kInFlight][2], rows[2];
    const auto load = [&](int step) {
      b[step % kInFlight][0].load(a.b, first + 16 * step + g, a.N, k, a.K);
      b[step % kInFlight][1].load(a.b, first + 16 * step + g + 8, a.N, k, a.K);
    };
#pragma unroll
    for (int step = 0; step < kInFlight; ++step) {
      load(step);
    }
    rows[0].load(a.a, g, a.M, k, a.K);
    rows[1].load(a.a, g + 8, a.M, k, a.K);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      float sums[2][4] = {};
      add_products(sums, b[step % kInFlight], rows);
      if (step + kInFlight < kSteps) {
        load(step + kInFlight);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float& part = parts[warp][i / 4 * 8 + 2 * t + i % 2][16 * step + g + i % 4 / 2 * 8];
        part = begin == 0 ? sums[i / 4][i % 4] : part + sums[i / 4][i % 4];
      }
    }
  }
  __syncthreads();
  float* const row = &parts[0][warp][4 * lane];  // 4 of the block's sums are this thread's
  float4 sum = {};
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    const float4 part = *reinterpret_cast<const float4*>(row + i * kMost * kPitch);
    sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
  }
  *reinterpret_cast<float4*>(row) = sum;
  cluster.meet();
  for (int i = cluster.rank * 512 + threadIdx.x; i < kMost * kRows; i += 512 * SPLIT) {
    const float all = cluster.sum(&parts[0][i / kRows][i % kRows]);
    if (i / kRows < a.M && first + i % kRows < a.N) {
      a.c[i / kRows * a.N + first + i % kRows] = all;
    }
  }
  cluster.meet();  // until then others read this block's sums
}
