// apo:variant    e88_backward/cuda_raw_k_cache
// apo:target     cuda sm_80
// apo:technique  raw-k-cache
// apo:parent     cuda_fused_l2_norm
// apo:idea       The cache holds k as it came instead of k^: the reverse step normalises it again and need not read k a second time.
// apo:predict    0.98x..1.02x over parent: saves one 64-byte read a step.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+20*N+16*V+136 <= 166912
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+5*N+4*V+34)
#include "e88_backward.args.h"
#include "fused_norm.cuh"

namespace {

struct Work {
  static constexpr int kEntry = kState + kRows + kColumns + 1;  // S_{t-1}, k, v, a
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows], dk[kRows], dq[kRows];
  float k_factor, q_factor;
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

__device__ bf16 cached_key(const e88_backward_args& a, const Work&, long long row, int i) {
  return a.k[row * kRows + i];
}

__device__ void load_keys(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  if (threadIdx.x / 32 == 0) {
    share_unit(entry + kState, w.k, &w.k_factor);
  } else if (threadIdx.x / 32 == 1) {
    share_unit(a.q + row * kRows, w.q, &w.q_factor);
  }
}

__device__ const float* unit_key(const Work& w) {
  return w.k;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  backward_with_norm(a, *reinterpret_cast<Work*>(shared));
}
