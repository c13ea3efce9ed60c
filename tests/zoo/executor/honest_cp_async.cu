// apo:variant    copy/honest_cp_async
// apo:target     cuda sm_80
// apo:idea       cp.async as PTX, with addresses of shared memory.
// apo:launch     kernel grid=ceil_div(n,128) block=128 shared=512
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  extern __shared__ float tile[];
  if (i < a.n) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a.x + i));
  }
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  if (i < a.n) {
    a.y[i] = tile[threadIdx.x];
  }
}
