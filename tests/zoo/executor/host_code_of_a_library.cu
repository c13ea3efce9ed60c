// apo:variant    copy/host_code_of_a_library
// apo:target     cuda sm_80
// apo:idea       Host code calls a library that has no equivalent.
// zoo: expect not_checkable; guard build; evidence not checkable on the CPU: cublasCreate
#include <cublas_v2.h>

void copy(const float* x, float* y, int64_t n) {
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  }
}
