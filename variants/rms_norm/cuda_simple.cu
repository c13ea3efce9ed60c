// apo:variant    rms_norm/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns a row.
// apo:launch     normalise_rows grid=ceil_div(rows,64) block=64
#include "rms_norm.args.h"

extern "C" __global__ void normalise_rows(const rms_norm_args a) {
  const long long row = 64LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  const __nv_bfloat16* x = a.x + row * a.cols;
  __nv_bfloat16* y = a.y + row * a.cols;
  float squares = 0;
  for (long long c = 0; c < a.cols; ++c) {
    squares += __bfloat162float(x[c]) * __bfloat162float(x[c]);
  }
  const float scale = rsqrtf(squares / static_cast<float>(a.cols) + a.eps);
  for (long long c = 0; c < a.cols; ++c) {
    y[c] = __float2bfloat16(__bfloat162float(x[c]) * scale * __bfloat162float(a.weight[c]));
  }
}
