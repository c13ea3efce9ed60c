// apo:variant  smooth/right_flag_put_down
// apo:target   cuda sm_80
// apo:idea     A block waits for the flag of the block before it, and puts it down by a plain write.
// apo:scratch  kept 4*n
// apo:scratch  flags 4*ceil_div(n,64)
// apo:launch   clear grid=ceil_div(n,64) block=32
// apo:launch   smooth grid=ceil_div(n,64) block=64
#include "smooth.args.h"

extern "C" __global__ void clear(const smooth_args a) {
  if (threadIdx.x == 0)
    static_cast<int*>(a.flags)[blockIdx.x] = 0;
}

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  const long long block = blockIdx.x;
  float* kept = static_cast<float*>(a.kept);
  volatile int* flags = static_cast<volatile int*>(a.flags);
  if (i < a.n)
    kept[i] = a.x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    flags[block] = 1;
    while (block > 0 && flags[block - 1] == 0) {
    }
    __threadfence();
    if (block > 0)
      static_cast<int*>(a.flags)[block - 1] = 0;
  }
  __syncthreads();
  if (i < a.n)
    a.y[i] = (kept[i == 0 ? 0 : i - 1] + kept[i] + a.x[i == a.n - 1 ? i : i + 1]) / 3;
}
