// apo:variant  adamw/right_threads
// apo:target   cuda
// apo:idea     A thread for each element.
// apo:launch   step grid=ceil_div(n,256) block=256
#include "adamw.args.h"
extern "C" __global__ void step(adamw_args a) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < a.n) {
    const float first = a.m[i] = a.beta1 * a.m[i] + (1 - a.beta1) * a.g[i];
    const float second = a.v[i] = a.beta2 * a.v[i] + (1 - a.beta2) * a.g[i] * a.g[i];
    a.p[i] -= a.lr * (first / (sqrtf(second) + a.eps) + a.decay * a.p[i]);
  }
}
