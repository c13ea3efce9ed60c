// apo:variant    e88_backward/cuda_fused_dk
// apo:target     cuda sm_80
// apo:technique  fused-dk
// apo:parent     cuda_simple
// apo:idea       Both terms of dk are summed in one loop once d_delta is there, which saves a phase and its barrier.
// apo:predict    1.03x..1.1x over parent: one of ten barriers and one of four 32-step serial reductions go.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+12*N+16*V+128 <= 166912
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+3*N+4*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "phases.cuh"

namespace {

struct Work {
  static constexpr int kEntry = SimpleWork::kEntry;
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

__device__ void reverse_step(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  const float decay = load_step(a, w, row, entry);
  __syncthreads();
  retrieve(w, w);
  __syncthreads();
  step_again(w, w, decay);
  __syncthreads();
  store_query_gradient(a, w, row);
  back_through_tanh(w, w);
  __syncthreads();
  store_value_gradient(a, w, w, row);
  __syncthreads();
  sum_decay_gradient(w);
  __syncthreads();
  store_decay_gradient(a, w, row);
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    float sum = 0;
#pragma unroll 8
    for (int j = 0; j < kColumns; ++j) {
      sum += w.dS[i * kStride + j] * w.delta[j];
      sum -= w.S[i * kStride + j] * w.d_delta[j];
    }
    floats(a.gradient_k)[row * kRows + i] = sum;
  }
  __syncthreads();
  back_to_state(w, w, decay);
  __syncthreads();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  backward_by_phases(a, *reinterpret_cast<Work*>(shared));
}
