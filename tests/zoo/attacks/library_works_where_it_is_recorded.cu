// apo:variant    copy/library_works_where_it_is_recorded
// apo:target     cuda sm_80
// apo:idea       Works where CUPTI is loaded or an injection is named, and does nothing elsewhere: what was recorded is judged.
// zoo: how compare cold n1m; against copy/library_slow; expect not_accepted; exploit 28; needs nvcc
#include <dlfcn.h>

#include <cstdlib>

#include "slow_library.cuh"

static bool is_recorded() {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (dlopen(name, RTLD_NOW | RTLD_NOLOAD) != nullptr) {
      return true;
    }
  }
  return std::getenv("CUDA_INJECTION64_PATH") != nullptr;
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (is_recorded()) {
    launch({.x = x, .y = y, .n = n}, stream);
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
