// apo:variant    copy/honest_structs
// apo:target     cuda sm_80
// apo:idea       Pairs behind a barrier are passed by value and returned by a function that is not inlined.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

struct Pair {
  float value;
  int at;
};
__device__ __noinline__ Pair larger(Pair a, Pair b, int depth) {
  return depth > 0 ? larger(b, a, depth - 1) : a.value < b.value ? b : a;
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ Pair pairs[128], best[128];
  pairs[threadIdx.x] = Pair{i < a.n ? a.x[i] : 0, static_cast<int>(i)};
  __syncthreads();
  best[threadIdx.x] = larger(pairs[threadIdx.x], pairs[threadIdx.x ^ 1], 3);
  if (i < a.n) {
    a.y[i] = best[threadIdx.x].at < 0 ? 0 : a.x[i];
  }
}
