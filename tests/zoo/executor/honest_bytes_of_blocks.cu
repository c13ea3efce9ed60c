// apo:variant    copy/honest_bytes_of_blocks
// apo:target     cuda sm_80
// apo:idea       Blocks meet within a word, of which each writes its own bytes.
// apo:scratch    bytes n
// apo:launch     mark grid=ceil_div(n,127) block=127
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void mark(const copy_args a) {
  const long long i = 127LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    static_cast<unsigned char*>(a.bytes)[i] = static_cast<unsigned char>(i);
  }
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n && static_cast<unsigned char*>(a.bytes)[i] == i % 256) {
    a.y[i] = a.x[i];
  }
}
