// apo:variant    copy/cuda_cublas_copy
// apo:target     cuda sm_80
// apo:technique  library-call
// apo:parent     copy/cuda_simple
// apo:idea       Leaves the copy to cuBLAS's scopy: the yardstick of what a library call gives without a kernel of our own.
// apo:predict    0.6x..1.1x over parent: the same bytes move, and the call's own host time is part of it.
// apo:link       cublas
#include <cublas_v2.h>

#include "copy.args.h"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  // Made once: it allocates, and loads the library's kernels. Lives as long as the worker.
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
    handle = nullptr;
    return 1;
  }
  if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) {
    return 2;
  }
  return cublasScopy_64(handle, n, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS ? 0 : 3;
}
