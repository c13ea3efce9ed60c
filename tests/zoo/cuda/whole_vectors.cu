// apo:variant    copy/whole_vectors
// apo:target     cuda sm_80
// apo:idea       Copies four floats at a time and forgets the rest.
// apo:launch     k grid=ceil_div(n,1024) block=256
// zoo: expect incorrect; evidence never written
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n / 4) {
    reinterpret_cast<float4*>(a.y)[i] = reinterpret_cast<const float4*>(a.x)[i];
  }
}
