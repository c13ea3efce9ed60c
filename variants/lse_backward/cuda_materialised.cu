// apo:variant    lse_backward/cuda_materialised
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       All weights lie in memory; a thread computes one of them, one element of dq, or one of dk.
// apo:scratch    weights 4*heads*group*S*keys
// apo:requires   heads*group*S*keys <= 8589934592 && heads*group*S*max(keys,D) <= 274877906944
// apo:launch     weigh grid=ceil_div(heads*group*S*keys,256) block=256
// apo:launch     to_queries grid=ceil_div(heads*group*S*D,256) block=256
// apo:launch     to_keys grid=ceil_div(heads*keys*D,256) block=256
#include "scores.cuh"

extern "C" __global__ void weigh(const lse_backward_args a) {
  const long long own = 256LL * blockIdx.x + threadIdx.x, row = own / a.keys, j = own % a.keys;
  const long long rows = a.group * a.S;
  if (row >= a.heads * rows) {
    return;
  }
  const bf16 *q = a.q + row * a.D, *k = a.k + (row / rows * a.keys + j) * a.D;
  float product = 0;
  for (long long d = 0; d < a.D; ++d) {
    product += load(q[d]) * load(k[d]);
  }
  static_cast<float*>(a.weights)[own] = is_hidden(a, row % a.S, j) ? 0 : weight_of(a, product, a.lse[row]);
}

extern "C" __global__ void to_queries(const lse_backward_args a) {
  const long long own = 256LL * blockIdx.x + threadIdx.x, row = own / a.D, d = own % a.D;
  const long long rows = a.group * a.S;
  if (row >= a.heads * rows) {
    return;
  }
  const float* weights = static_cast<const float*>(a.weights) + row * a.keys;
  const bf16* k = a.k + row / rows * a.keys * a.D + d;
  float sum = 0;
  for (long long j = 0; j < a.keys; ++j) {
    sum += weights[j] * load(k[j * a.D]);
  }
  a.dq[own] = store(a.scale * a.dlse[row] * sum);
}

extern "C" __global__ void to_keys(const lse_backward_args a) {
  const long long own = 256LL * blockIdx.x + threadIdx.x, key = own / a.D, d = own % a.D;
  const long long rows = a.group * a.S;
  if (key >= a.heads * a.keys) {
    return;
  }
  const long long first = key / a.keys * rows;
  const float* weights = static_cast<const float*>(a.weights) + first * a.keys + key % a.keys;
  float sum = 0;
  for (long long row = 0; row < rows; ++row) {
    sum += weights[row * a.keys] * a.dlse[first + row] * load(a.q[(first + row) * a.D + d]);
  }
  a.dk[own] = store(a.scale * sum);
}
