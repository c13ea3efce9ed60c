// tests/worker/code/inlined_calls.h - short helpers, one that calls another, and a function that is not short.
#pragma once

__device__ inline float low(unsigned pair) {
  return __uint_as_float(pair << 16);
}

__device__ inline float sum_of_pair(unsigned pair) {
  return low(pair) + __uint_as_float(pair & 0xffff0000u);
}

__device__ inline float long_function(const unsigned* in, float* out) {
  float x = out[1];
  x += low(in[2]);
  out[3] = x;
  x *= out[4];
  out[5] = x * x;
  x = out[6] - x;
  return x;
}
