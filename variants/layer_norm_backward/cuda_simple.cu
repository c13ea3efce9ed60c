// apo:variant    layer_norm_backward/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns a row, then a thread owns a column.
// apo:launch     of_rows grid=ceil_div(rows,64) block=64
// apo:launch     of_columns grid=ceil_div(cols,64) block=64
#include "layer_norm_backward.args.h"

namespace {

__device__ float scaled(const layer_norm_backward_args& a, long long row, long long c) {
  return __bfloat162float(a.dy[row * a.cols + c]) * __bfloat162float(a.weight[c]);
}

__device__ float normalised(const layer_norm_backward_args& a, long long row, long long c) {
  return (__bfloat162float(a.x[row * a.cols + c]) - a.mean[row]) * a.rstd[row];
}

}  // namespace

extern "C" __global__ void of_rows(const layer_norm_backward_args a) {
  const long long row = 64LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  float level = 0, slope = 0;
  for (long long c = 0; c < a.cols; ++c) {
    level += scaled(a, row, c);
    slope += scaled(a, row, c) * normalised(a, row, c);
  }
  level /= static_cast<float>(a.cols);
  slope /= static_cast<float>(a.cols);
  for (long long c = 0; c < a.cols; ++c) {
    const float gradient = a.rstd[row] * (scaled(a, row, c) - level - normalised(a, row, c) * slope);
    a.dx[row * a.cols + c] = __float2bfloat16(gradient);
  }
}

extern "C" __global__ void of_columns(const layer_norm_backward_args a) {
  const long long c = 64LL * blockIdx.x + threadIdx.x;
  if (c >= a.cols) {
    return;
  }
  float of_weight = 0, of_bias = 0;
  for (long long row = 0; row < a.rows; ++row) {
    const float dy = __bfloat162float(a.dy[row * a.cols + c]);
    of_weight += dy * normalised(a, row, c);
    of_bias += dy;
  }
  a.dweight[c] = __float2bfloat16(of_weight);
  a.dbias[c] = __float2bfloat16(of_bias);
}
