// harness/executor/device/host/cublas_v2.h - enough of cuBLAS for files that set it up beside kernels of their own. A
// call ends the check: its functions have no equivalent here.
#pragma once

using cublasHandle_t = struct cublasContext*;
using cublasLtHandle_t = struct cublasLtContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };

#define APO_CPU_ABSENT(NAME)          \
  template <class... Arguments>       \
  cublasStatus_t NAME(Arguments...) { \
    apo_cpu::call_absent(#NAME);      \
    return CUBLAS_STATUS_SUCCESS;     \
  }
APO_CPU_ABSENT(cublasCreate)
APO_CPU_ABSENT(cublasDestroy)
APO_CPU_ABSENT(cublasSetMathMode)
APO_CPU_ABSENT(cublasSetStream)
APO_CPU_ABSENT(cublasSgemm)
APO_CPU_ABSENT(cublasSgemmStridedBatched)
APO_CPU_ABSENT(cublasLtCreate)
APO_CPU_ABSENT(cublasLtDestroy)
#undef APO_CPU_ABSENT
