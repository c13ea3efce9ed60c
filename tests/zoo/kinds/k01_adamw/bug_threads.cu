// apo:variant  adamw/bug_threads
// apo:target   cuda
// apo:idea     A launch for the moments and one for the parameters, which updates the first moment again.
// apo:launch   moments    grid=ceil_div(n,256) block=256
// apo:launch   parameters grid=ceil_div(n,256) block=256
#include "adamw.args.h"
extern "C" __global__ void moments(adamw_args a) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < a.n) {
    a.m[i] = a.beta1 * a.m[i] + (1 - a.beta1) * a.g[i];
    a.v[i] = a.beta2 * a.v[i] + (1 - a.beta2) * a.g[i] * a.g[i];
  }
}
extern "C" __global__ void parameters(adamw_args a) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < a.n) {
    const float first = a.beta1 * a.m[i] + (1 - a.beta1) * a.g[i];
    a.p[i] -= a.lr * (first / (sqrtf(a.v[i]) + a.eps) + a.decay * a.p[i]);
  }
}
