// apo:variant    copy/cuda_stops_after_fifty
// apo:target     cuda sm_80
// apo:idea       Counts its calls in device memory and does nothing from the fiftieth on, when nobody looks any more.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     count grid=1 block=1
// zoo: how compare warm n4k; against copy/cuda_slow; expect not_accepted; guard state; exploit 12
#include "slow_copy.cuh"

__device__ int calls;

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && calls < 50) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

extern "C" __global__ void count(const copy_args) {
  ++calls;
}
