// tests/zoo/attacks/library.cuh - what library variants with kernels begin with: their ABI, and a kernel that copies.
#pragma once

#include "copy_abi.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

static void launch(const copy_args& args, cudaStream_t stream) {
  copy_elements<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);
}
