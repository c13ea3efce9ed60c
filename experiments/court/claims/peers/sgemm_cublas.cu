// apo:target   cuda sm_80
// apo:idea     The library's product of binary32, as SGEMM_CUDA calls it.
// apo:link     cublas
#include <cublas_v2.h>
#include <stdint.h>

int sgemm(const float* A, const float* B, float* C, float alpha, float beta, int64_t M, int64_t N, int64_t K,
          cudaStream_t stream) {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) {
    cublasCreate(&handle);
  }
  cublasSetStream(handle, stream);
  const int m = static_cast<int>(M), n = static_cast<int>(N), k = static_cast<int>(K);
  return static_cast<int>(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, B, CUDA_R_32F, n, A,
                                       CUDA_R_32F, k, &beta, C, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                                       CUBLAS_GEMM_DEFAULT_TENSOR_OP));
}
