// apo:variant    lse_backward/cuda_cublas_chunks
// apo:target     cuda sm_80
// apo:technique  library-call
// apo:parent     lse_backward/cuda_materialised
// apo:idea       CHUNK queries at a time: cuBLAS makes their scores in fp32, a kernel weights in bf16, cuBLAS dq and its part of dk.
// apo:predict    20x..200x over parent: 3 products at the library's speed; for D above about 400 cheaper than a fourth product.
// apo:tune       CHUNK 2048,1024,4096
// apo:scratch    scores 4*min(CHUNK,group*S)*keys
// apo:scratch    weights 2*min(CHUNK,group*S)*keys
// apo:scratch    sums 4*keys*D
// apo:requires   min(CHUNK,group*S)*keys <= 4294967296
// apo:link       cublas
#include <cublas_v2.h>

#include "scores.cuh"

namespace {

// What one product multiplies: row-major matrices, which are transposed ones to cuBLAS.
struct Product {
  cublasOperation_t a, b;
  int64_t m, n, k;
  const void *left, *right;
  int64_t left_pitch, right_pitch;
  void* to;
  cudaDataType_t to_type;
};

bool multiply(cublasHandle_t handle, const Product& p, float alpha, float beta) {
  return cublasGemmEx(handle, p.a, p.b, static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), &alpha,
                      p.left, CUDA_R_16BF, static_cast<int>(p.left_pitch), p.right, CUDA_R_16BF,
                      static_cast<int>(p.right_pitch), &beta, p.to, p.to_type, static_cast<int>(p.m),
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

// Of `rows` queries from `first` on: dlse times the weight of each pair.
__global__ void weigh(const lse_backward_args a, long long first, long long rows) {
  for (long long at = 256LL * blockIdx.x + threadIdx.x; at < rows * a.keys; at += 256LL * gridDim.x) {
    const long long row = first + at / a.keys, j = at % a.keys;
    const float product = static_cast<const float*>(a.scores)[at];
    const float weight = is_hidden(a, row % a.S, j) ? 0 : a.dlse[row] * weight_of(a, product, a.lse[row]);
    static_cast<bf16*>(a.weights)[at] = store(weight);
  }
}

__global__ void round_keys(const lse_backward_args a, long long head) {
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < a.keys * a.D; i += 256LL * gridDim.x) {
    a.dk[head * a.keys * a.D + i] = store(static_cast<const float*>(a.sums)[i]);
  }
}

bool chunk(const lse_backward_args& a, cublasHandle_t handle, cudaStream_t stream, int64_t head, int64_t first,
           int64_t rows) {
  const int64_t row = head * a.group * a.S + first;
  const bf16 *q = a.q + row * a.D, *k = a.k + head * a.keys * a.D;
  const Product scores{CUBLAS_OP_T, CUBLAS_OP_N, a.keys, rows, a.D, k, q, a.D, a.D, a.scores, CUDA_R_32F};
  const Product dq{CUBLAS_OP_N, CUBLAS_OP_N,      a.D,        rows, a.keys, k, a.weights, a.D,
                   a.keys,      a.dq + row * a.D, CUDA_R_16BF};
  const Product dk{CUBLAS_OP_N, CUBLAS_OP_T, a.D, a.keys, rows, q, a.weights, a.D, a.keys, a.sums, CUDA_R_32F};
  if (!multiply(handle, scores, 1, 0)) {
    return false;
  }
  const int64_t blocks = (rows * a.keys + 255) / 256;
  weigh<<<static_cast<unsigned>(blocks < 16384 ? blocks : 16384), 256, 0, stream>>>(a, row, rows);
  return multiply(handle, dq, a.scale, 0) && multiply(handle, dk, a.scale, first == 0 ? 0.0f : 1.0f);
}

}  // namespace

int lse_backward(const lse_backward_args& a, cudaStream_t stream) {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
    handle = nullptr;
    return 1;
  }
  if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) {
    return 2;
  }
  const int64_t rows = a.group * a.S;
  for (int64_t head = 0; head < a.heads; ++head) {
    for (int64_t first = 0; first < rows; first += CHUNK) {
      if (!chunk(a, handle, stream, head, first, rows - first < CHUNK ? rows - first : CHUNK)) {
        return 3;
      }
    }
    round_keys<<<1024, 256, 0, stream>>>(a, head);
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 4;
}
