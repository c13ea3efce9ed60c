// apo:variant    copy/raw_ptx
// apo:target     cuda sm_80
// apo:idea       An instruction that has no equivalent on the CPU.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect not_checkable; guard build; evidence not checkable on the CPU: PTX mov.u32
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  unsigned slot;
  asm("mov.u32 %0, %smid;" : "=r"(slot));
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
