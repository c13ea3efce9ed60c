// apo:variant    layer_norm/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns a row.
// apo:launch     normalise_rows grid=ceil_div(rows,64) block=64
#include "layer_norm.args.h"

extern "C" __global__ void normalise_rows(const layer_norm_args a) {
  const long long row = 64LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  const __nv_bfloat16* x = a.x + row * a.cols;
  float mean = 0;
  for (long long c = 0; c < a.cols; ++c) {
    mean += __bfloat162float(x[c]);
  }
  mean /= static_cast<float>(a.cols);
  float squares = 0;
  for (long long c = 0; c < a.cols; ++c) {
    const float deviation = __bfloat162float(x[c]) - mean;
    squares += deviation * deviation;
  }
  const float rstd = rsqrtf(squares / static_cast<float>(a.cols) + a.eps);
  a.mean[row] = mean;
  a.rstd[row] = rstd;
  for (long long c = 0; c < a.cols; ++c) {
    const float normalised = (__bfloat162float(x[c]) - mean) * rstd;
    a.y[row * a.cols + c] = __float2bfloat16(normalised * __bfloat162float(a.weight[c]) + __bfloat162float(a.bias[c]));
  }
}
