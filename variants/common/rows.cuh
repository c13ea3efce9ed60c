// variants/common/rows.cuh - rows in the registers of a block or of a part of it: loads, sums, sums of exponentials.
#pragma once
#include "words.cuh"

namespace {

// kRows rows from `first` on, which lies at `x`, of `count`: a thread gets every kThreads-th vector of each, and zeros
// behind their ends and behind the last row.
template <int kThreads, int kRows, int kVectors>
__device__ void load_rows(uint4 (&rows)[kRows][kVectors], const uint4* x, int vectors, long long first,
                          long long count) {
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = threadIdx.x + i * kThreads;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool there = at < vectors && first + r < count;
      rows[r][i] = there ? x[r * vectors + at] : uint4{};
    }
  }
}

inline __device__ float sum_of_eight(const Eight& a) {
  const float* x = a.x;
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

inline __device__ float largest_of_eight(const Eight& a) {
  const float* x = a.x;
  return fmaxf(fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])), fmaxf(fmaxf(x[4], x[5]), fmaxf(x[6], x[7])));
}

// Adds each of `x` up over kThreads threads, which `meet` waits for; in every thread. `room` is shared memory that
// nothing else uses meanwhile.
template <int kThreads, int kCount, class Meet>
__device__ void sum_over(float (&x)[kCount], float (&room)[kCount][kThreads / 32], const Meet& meet) {
  constexpr int kWarps = kThreads / 32;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (float& value : x) {
    value = sum_of_lanes(value);
  }
  if constexpr (kWarps > 1) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (lane == 0) {
        room[i][threadIdx.x / 32] = x[i];
      }
    }
    meet();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      x[i] = sum_of_lanes<kWarps>(room[i][lane % kWarps]);
    }
  }
}

// The same over a block.
template <int kThreads, int kCount>
__device__ void sum_over_block(float (&x)[kCount], float (&room)[kCount][kThreads / 32]) {
  sum_over<kThreads>(x, room, [] { __syncthreads(); });
}

// 2^x; relative error up to 2^-22, 0 below 2^-126.
inline __device__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

constexpr float kLog2e = 1.44269504f;

// A sum of e^x, relative to the largest x.
struct Exponentials {
  float largest = -3.402823466e38f, sum = 0;
};

// The total of kLanes neighbouring lanes, in each of them.
template <int kLanes>
__device__ Exponentials total_of_lanes(const Exponentials& own) {
  float largest = own.largest;
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, step));
  }
  return {largest, sum_of_lanes<kLanes>(own.sum * power_of_two((own.largest - largest) * kLog2e))};
}

// The total of a block, in every thread; `room` as above.
template <int kThreads>
__device__ Exponentials total_of_block(const Exponentials& own, Exponentials (&room)[kThreads / 32]) {
  constexpr int kWarps = kThreads / 32;
  const Exponentials of_warp = total_of_lanes<32>(own);
  if constexpr (kWarps == 1) {
    return of_warp;
  }
  if (threadIdx.x % 32 == 0) {
    room[threadIdx.x / 32] = of_warp;
  }
  __syncthreads();
  return total_of_lanes<kWarps>(room[threadIdx.x % kWarps]);
}

}  // namespace
