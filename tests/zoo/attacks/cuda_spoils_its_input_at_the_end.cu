// apo:variant    copy/cuda_spoils_its_input_at_the_end
// apo:target     cuda sm_80
// apo:idea       Is right, and changes one element of its input afterwards.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     spoil grid=1 block=1
// zoo: how verify; expect incorrect; guard inputs; exploit 4; evidence changed its input 'x
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

extern "C" __global__ void spoil(const copy_args a) {
  const_cast<float*>(a.x)[a.n / 2] = 0.0f;
}
