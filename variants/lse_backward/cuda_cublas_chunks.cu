// apo:variant    lse_backward/cuda_cublas_chunks
// apo:target     cuda sm_80
// apo:technique  library-call
// apo:parent     lse_backward/cuda_materialised
// apo:idea       CHUNK queries at a time: cuBLAS makes their scores in fp32, a kernel weights in bf16, cuBLAS dq and its part of dk.
// apo:predict    20x..200x over parent: 3 products at the library's speed; for D above about 400 cheaper than a fourth product.
// apo:tune       CHUNK 4096,1024,2048
// apo:scratch    scores 4*min(CHUNK,group*S)*keys
// apo:scratch    weights 2*min(CHUNK,group*S)*keys
// apo:scratch    sums CHUNK<group*S?4*keys*D:0
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

constexpr int kKeys = 8;  // of a thread, where rows of keys are whole units of 16 bytes

__device__ float weight(const lse_backward_args& a, long long row, long long j, float product, float lse, float dlse) {
  return is_hidden(a, row % a.S, j) ? 0 : dlse * weight_of(a, product, lse);
}

// Of the chunk's query blockIdx.y, which is `first` of all: dlse times the weight of each pair.
__global__ __launch_bounds__(256) void weigh(const lse_backward_args a, long long first) {
  const long long row = first + blockIdx.y;
  const float* products = static_cast<const float*>(a.scores) + blockIdx.y * a.keys;
  bf16* weights = static_cast<bf16*>(a.weights) + blockIdx.y * a.keys;
  const float lse = a.lse[row], dlse = a.dlse[row];
  const long long thread = 256LL * blockIdx.x + threadIdx.x;
  if (a.keys % kKeys != 0) {
    for (long long j = thread; j < a.keys; j += 256LL * gridDim.x) {
      weights[j] = store(weight(a, row, j, products[j], lse, dlse));
    }
    return;
  }
  for (long long j = kKeys * thread; j < a.keys; j += kKeys * 256LL * gridDim.x) {
    unsigned pairs[kKeys / 2];
#pragma unroll
    for (int i = 0; i < kKeys; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(products + j + i);
      pairs[i / 2] = pack(weight(a, row, j + i, four.x, lse, dlse), weight(a, row, j + i + 1, four.y, lse, dlse));
      pairs[i / 2 + 1] =
          pack(weight(a, row, j + i + 2, four.z, lse, dlse), weight(a, row, j + i + 3, four.w, lse, dlse));
    }
    *reinterpret_cast<uint4*>(weights + j) = {pairs[0], pairs[1], pairs[2], pairs[3]};
  }
}

__global__ void round_keys(const lse_backward_args a, long long head) {
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < a.keys * a.D; i += 256LL * gridDim.x) {
    a.dk[head * a.keys * a.D + i] = store(static_cast<const float*>(a.sums)[i]);
  }
}

// Where one chunk has all queries, its part of dk is dk, and no sum in fp32 is kept.
bool chunk(const lse_backward_args& a, cublasHandle_t handle, cudaStream_t stream, int64_t head, int64_t first,
           int64_t rows) {
  const int64_t row = head * a.group * a.S + first;
  const bool is_all = rows == a.group * a.S;
  const bf16 *q = a.q + row * a.D, *k = a.k + head * a.keys * a.D;
  void* to_keys = is_all ? static_cast<void*>(a.dk + head * a.keys * a.D) : a.sums;
  const Product scores{CUBLAS_OP_T, CUBLAS_OP_N, a.keys, rows, a.D, k, q, a.D, a.D, a.scores, CUDA_R_32F};
  const Product dq{CUBLAS_OP_N, CUBLAS_OP_N,      a.D,        rows, a.keys, k, a.weights, a.D,
                   a.keys,      a.dq + row * a.D, CUDA_R_16BF};
  const Product dk{CUBLAS_OP_N,
                   CUBLAS_OP_T,
                   a.D,
                   a.keys,
                   rows,
                   q,
                   a.weights,
                   a.D,
                   a.keys,
                   to_keys,
                   is_all ? CUDA_R_16BF : CUDA_R_32F};
  if (!multiply(handle, scores, 1, 0)) {
    return false;
  }
  const int64_t blocks = (a.keys + 256 * kKeys - 1) / (256 * kKeys);
  weigh<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(rows)), 256, 0, stream>>>(a, row);
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
    if (CHUNK < rows) {
      round_keys<<<1024, 256, 0, stream>>>(a, head);
    }
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 4;
}
