// apo:variant    copy/cuda_vector4
// apo:target     cuda sm_80
// apo:technique  vectorised
// apo:parent     copy/cuda_simple
// apo:idea       A thread moves UNROLL groups of four floats: wide loads, all of them under way before the first store.
// apo:predict    1.0x..1.4x over parent: a quarter of the instructions, and more bytes under way in each thread.
// apo:tune       UNROLL 4,1,2,8
// apo:launch     copy_vectors grid=ceil_div(n,1024*UNROLL) block=256
#include "copy.args.h"

extern "C" __global__ void copy_vectors(const copy_args a) {
  const long long vectors = a.n / 4;
  const long long first = 256LL * UNROLL * blockIdx.x + threadIdx.x;
  const auto* x = reinterpret_cast<const float4*>(a.x);  // tensors are aligned to 64 bytes at least
  auto* y = reinterpret_cast<float4*>(a.y);
  float4 moved[UNROLL];
#pragma unroll
  for (int j = 0; j < UNROLL; ++j) {
    if (first + 256 * j < vectors) {
      moved[j] = x[first + 256 * j];
    }
  }
#pragma unroll
  for (int j = 0; j < UNROLL; ++j) {
    if (first + 256 * j < vectors) {
      y[first + 256 * j] = moved[j];
    }
  }
  // The last n % 4 elements.
  const long long rest = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && rest < a.n) {
    a.y[rest] = a.x[rest];
  }
}
