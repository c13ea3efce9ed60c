// apo:variant    copy/race_of_structs
// apo:target     cuda sm_80
// apo:idea       A step of a tree of pairs, passed by value, that overwrites what its neighbour reads.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence shared-memory race, race_of_structs.cu
#include "copy.args.h"

struct Pair {
  float value;
  int at;
};
__device__ Pair larger(Pair a, Pair b) {
  return a.value < b.value ? b : a;
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ Pair pairs[128];
  pairs[threadIdx.x] = Pair{i < a.n ? a.x[i] : 0, static_cast<int>(i)};
  __syncthreads();
  pairs[threadIdx.x] = larger(pairs[threadIdx.x], pairs[threadIdx.x ^ 1]);  // found here
  if (i < a.n) {
    a.y[i] = pairs[threadIdx.x].at < 0 ? 0 : a.x[i];
  }
}
