// apo:variant    copy/named_barrier_deadlock
// apo:target     cuda sm_80
// apo:idea       One warp waits for a second one, which never comes to the barrier.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence deadlock, barrier 1 waits for 64 threads
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x < 32) {
    asm volatile("bar.sync %0, 64;" ::"r"(1) : "memory");  // found here
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
