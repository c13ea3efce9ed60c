// variants/common/e88_sums.cuh - what a block of kThreads threads does with a state in shared memory, with the toggles
// that change it.
#pragma once
#include "e88_state.cuh"

namespace {

// APPROXIMATE_TANH: one special-function instruction in place of some twenty others.
inline __device__ float tanh_of_state(float x) {
#if APPROXIMATE_TANH
  return tanh_approx(x);
#else
  return tanhf(x);
#endif
}

// PARALLEL_REDUCTION: each sum is shared by neighbouring threads and joined by shuffles, so that no phase leaves most
// threads idle.
#if PARALLEL_REDUCTION
constexpr int kWidest = kRows > kColumns ? kRows : kColumns;

constexpr int sharers_of(int threads) {
  while (threads > 32 || threads * kWidest > kThreads) {
    threads /= 2;
  }
  return threads;
}
constexpr int kSharers = sharers_of(kThreads);
static_assert(kSharers > 0);

// Calls write(i, sum) for each i below `outer`; sum(i) calls add(sum, i, j) for each j below `inner`.
template <int outer, int inner, class Add, class Write>
__device__ void sum_all(Add add, Write write) {
  const int lane = threadIdx.x % kSharers, i = threadIdx.x / kSharers;
  float sum = 0;
  if (i < outer) {
    for (int j = lane; j < inner; j += kSharers) {
      add(sum, i, j);
    }
  }
  sum = sum_of_lanes<kSharers>(sum);
  if (lane == 0 && i < outer) {
    write(i, [&](int) { return sum; });
  }
}
#else
template <int outer, int inner, class Add, class Write>
__device__ void sum_all(Add add, Write write) {
  for (int i = threadIdx.x; i < outer; i += blockDim.x) {
    write(i, [&](int) {
      float sum = 0;
#pragma unroll 8
      for (int j = 0; j < inner; ++j) {
        add(sum, i, j);
      }
      return sum;
    });
  }
}
#endif

// Calls write(j, sum) for each column, where sum(i) is sum_i S[i][j] x[i].
template <class Write>
__device__ void column_dots(const float* S, const float* x, Write write) {
#if PARALLEL_REDUCTION
  sum_all<kColumns, kRows>([&](float& sum, int j, int i) { sum += S[i * kStride + j] * x[i]; }, write);
#else
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    write(j, [=](int own) { return column_dot(S, own, x); });
  }
#endif
}

// Calls write(i, sum) for each row, where sum(i) is sum_j S[i][j] x[j].
template <class Write>
__device__ void row_dots(const float* S, const float* x, Write write) {
#if PARALLEL_REDUCTION
  sum_all<kRows, kColumns>([&](float& sum, int i, int j) { sum += S[i * kStride + j] * x[j]; }, write);
#else
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    write(i, [=](int own) { return row_dot(S, own, x); });
  }
#endif
}

}  // namespace
