// variants/common/e88_state.cuh - a state in shared memory, dot products with it, and the norm of k and q by warps.
#pragma once
#include "e88_sizes.cuh"
#include "words.cuh"

namespace {

constexpr int kStride = kColumns | 1;  // of a state in shared memory: odd, for the banks

// Where element e of a state, in row-major order, stands in shared memory.
inline __device__ int place(int e) {
  return e / kColumns * kStride + e % kColumns;
}

// sum_i S[i][j] x[i]
inline __device__ float column_dot(const float* S, int j, const float* x) {
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < kRows; ++i) {
    sum += S[i * kStride + j] * x[i];
  }
  return sum;
}

// sum_j S[i][j] x[j]
inline __device__ float row_dot(const float* S, int i, const float* x) {
  float sum = 0;
#pragma unroll 8
  for (int j = 0; j < kColumns; ++j) {
    sum += S[i * kStride + j] * x[j];
  }
  return sum;
}

// By a warp: rsqrt(|x|^2 + epsilon)
template <class Row>
__device__ float inverse_norm(Row x) {
  float squares = 0;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    const float one = load(x[i]);
    squares += one * one;
  }
  return kNORM ? rsqrtf(sum_of_lanes(squares) + 1e-12f) : 1.0f;
}

// By a warp: x^ = x rsqrt(|x|^2 + epsilon); returns the factor.
template <class Row>
__device__ float normalise_row(Row x, float* unit) {
  const float factor = inverse_norm(x);
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    unit[i] = load(x[i]) * factor;
  }
  return factor;
}

// By a warp: dx = (dx^ - x^ (x^ . dx^)) factor; exact, because x^ carries the factor's epsilon.
inline __device__ void chain_rule_row(const float* unit, float factor, const float* gradient, bf16* dx) {
  float along = 0;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    along += unit[i] * gradient[i];
  }
  along = sum_of_lanes(along);
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    dx[i] = store(kNORM ? (gradient[i] - unit[i] * along) * factor : gradient[i]);
  }
}

// Calls body(row) for each row of tensors [B,T,H,.], a warp a row.
template <class Args, class Body>
__device__ void warp_for_all(const Args& a, Body body) {
  const long long warp = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
  for (long long row = warp; row < a.B * a.T * a.H; row += gridDim.x * static_cast<long long>(blockDim.x) / 32) {
    body(row);
  }
}

// k^ and q^ of all steps, as the separate operation of the original.
template <class Args>
__device__ void normalise_all(const Args& a) {
  warp_for_all(a, [&](long long row) {
    normalise_row(a.k + row * kRows, static_cast<float*>(a.unit_k) + row * kRows);
    normalise_row(a.q + row * kRows, static_cast<float*>(a.unit_q) + row * kRows);
  });
}

}  // namespace
