// tests/zoo/attacks/slow_library.cuh - the slow kernel that libraries of this folder launch.
#pragma once

#include "copy_abi.h"
#include "slow_copy.cuh"

static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

static void launch(const copy_args& args, cudaStream_t stream) {
  copy_elements<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);
}
