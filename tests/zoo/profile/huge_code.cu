// apo:variant    zoo_copy/huge_code
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Eight warps walk through a quarter of a mebibyte of code, each somewhere else.
// apo:launch     kernel grid=ceil_div(n,2048) block=256
// zoo: expect instruction-fetch-stalls
// zoo: workload n1m
// zoo: cpu slow
#include "zoo_copy.args.h"

// Two thousand different multiply-adds in a row.
template <int region>
__device__ __noinline__ float walk(float value) {
#pragma unroll
  for (int step = 0; step < 2048; ++step) {
    value = fmaf(value, 0.5f, 0x1p-20f * static_cast<float>(2048 * region + step));
  }
  return value;
}

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long first = 2048LL * blockIdx.x;
  float value = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (int turn = 0; turn < 16; ++turn) {
    switch ((threadIdx.x / 32 + turn) % 8) {
      case 0:
        value = walk<0>(value);
        break;
      case 1:
        value = walk<1>(value);
        break;
      case 2:
        value = walk<2>(value);
        break;
      case 3:
        value = walk<3>(value);
        break;
      case 4:
        value = walk<4>(value);
        break;
      case 5:
        value = walk<5>(value);
        break;
      case 6:
        value = walk<6>(value);
        break;
      default:
        value = walk<7>(value);
        break;
    }
  }
  for (long long i = first + threadIdx.x; i < min(first + 2048, a.n); i += 256) {
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
