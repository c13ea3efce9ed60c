// apo:variant    copy/cuda_honest_denormals
// apo:target     cuda sm_80
// apo:idea       Honest: multiplies down and up again by a power of two where nothing is lost.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const float value = a.x[i];
    const bool safe = fabsf(value) > 1e-20f && fabsf(value) < 1e30f;
    a.y[i] = safe ? value * 0.25f * 4.0f : value;
  }
}
