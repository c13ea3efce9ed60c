// apo:variant    cross_entropy/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns a row.
// apo:launch     classify grid=ceil_div(rows,64) block=64
#include "cross_entropy.args.h"

extern "C" __global__ void classify(const cross_entropy_args a) {
  const long long row = 64LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  const __nv_bfloat16* x = a.logits + row * a.cols;
  float largest = __bfloat162float(x[0]), sum = 0;
  for (long long c = 1; c < a.cols; ++c) {
    largest = fmaxf(largest, __bfloat162float(x[c]));
  }
  for (long long c = 0; c < a.cols; ++c) {
    sum += expf(__bfloat162float(x[c]) - largest);
  }
  a.losses[row] = logf(sum) + largest - __bfloat162float(x[a.targets[row]]);
  for (long long c = 0; c < a.cols; ++c) {
    const float probability = expf(__bfloat162float(x[c]) - largest) / sum;
    a.dlogits[row * a.cols + c] = __float2bfloat16((probability - (c == a.targets[row] ? 1.0f : 0.0f)) * a.dloss);
  }
}
