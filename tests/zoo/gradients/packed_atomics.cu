// apo:variant    binary_backward_bf16/packed_atomics
// apo:target     cuda sm_90
// apo:technique  scalar-loop
// apo:parent     binary_backward_bf16/cuda_simple
// apo:idea       Two columns a thread, and dB itself is added to, in pairs of bf16: no scratch and no kernel that rounds.
// apo:predict    1.0x..2x over parent: no scratch and no third kernel; wrong from two terms on, for each of them and each sum is rounded to 8 bits.
// apo:requires   kept == 1 && need_dA && need_dB && op == 2
// apo:launch     zero grid=max(1,ceil_div(d7,256)) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*ceil_div(d7,2),256)) block=256
// zoo: expect incorrect
#include "binary_backward_bf16.args.h"

extern "C" __global__ void zero(const binary_backward_bf16_args a) {
  const long long j = 256LL * blockIdx.x + threadIdx.x;
  if (j < a.d7) {
    a.dB[j] = __float2bfloat16(0);
  }
}

extern "C" __global__ void gradients(const binary_backward_bf16_args a) {
  const long long rows = a.d0 * a.d1 * a.d2 * a.d3 * a.d4 * a.d5 * a.d6, pairs = (a.d7 + 1) / 2;
  const long long at = 256LL * blockIdx.x + threadIdx.x;
  if (at >= rows * pairs) {
    return;
  }
  const long long row = at / pairs, j = at % pairs * 2;
  float term[2] = {};
  for (long long c = j; c < a.d7 && c < j + 2; ++c) {
    const float g = __bfloat162float(a.g[row * a.d7 + c]);
    a.dA[row * a.d7 + c] = __float2bfloat16(g * __bfloat162float(a.B[c]));
    term[c - j] = g * __bfloat162float(a.A[row * a.d7 + c]);
  }
  if (j + 1 < a.d7) {
    atomicAdd(reinterpret_cast<__nv_bfloat162*>(a.dB + j), __floats2bfloat162_rn(term[0], term[1]));
  } else {  // what follows an odd number of columns is not dB
    atomicAdd(a.dB + j, __float2bfloat16(term[0]));
  }
}
