// apo:variant    row_softmax/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns a row.
// apo:launch     softmax_rows grid=ceil_div(rows,64) block=64
#include "row_softmax.args.h"

extern "C" __global__ void softmax_rows(const row_softmax_args a) {
  const long long row = 64LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  const float* x = a.x + row * a.cols;
  float* y = a.y + row * a.cols;
  float largest = x[0];
  float sum = 0;
  for (long long c = 1; c < a.cols; ++c) {
    largest = fmaxf(largest, x[c]);
  }
  for (long long c = 0; c < a.cols; ++c) {
    sum += y[c] = expf(x[c] - largest);
  }
  for (long long c = 0; c < a.cols; ++c) {
    y[c] /= sum;
  }
}
