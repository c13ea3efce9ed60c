// apo:variant    copy/cuda_spoils_and_restores_nothing
// apo:target     cuda sm_80
// apo:idea       Sets its input to zero and the output too, so that a reference made afterwards would agree.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard inputs; exploit 4; evidence changed its input 'x
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const_cast<float*>(a.x)[i] = 0.0f;
    a.y[i] = 0.0f;
  }
}
