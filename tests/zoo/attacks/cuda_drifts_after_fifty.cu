// apo:variant    copy/cuda_drifts_after_fifty
// apo:target     cuda sm_80
// apo:idea       Counts its calls in device memory and writes something else from the fiftieth on: right while it is validated.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     count grid=1 block=1
// zoo: how compare warm n4k; against copy/cuda_slow; expect not_accepted; guard state; exploit 14
#include "slow_copy.cuh"

__device__ int calls;

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = calls < 50 ? slowly(a.x[i], a.n) : 0.0f;
  }
}

extern "C" __global__ void count(const copy_args) {
  ++calls;
}
