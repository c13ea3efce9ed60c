// apo:variant    e88_backward/cuda_fused_l2_norm
// apo:target     cuda sm_80
// apo:technique  fused-l2-norm
// apo:parent     cuda_simple
// apo:idea       k and q are normalised as they are loaded and dk, dq corrected before they are stored, so four fp32 copies and two kernels go.
// apo:predict    0.97x..1.05x over parent: saves some 0.3 ms of memory traffic and adds shuffles to a step that waits on barriers.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+20*N+16*V+136 <= 166912
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+5*N+4*V+34)
#include "e88_backward.args.h"
#include "fused_norm.cuh"

namespace {

struct Work {
  static constexpr int kEntry = kState + kRows + kColumns + 1;
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows], dk[kRows], dq[kRows];
  float unit_k[kRows];  // k^ before the cache rounded it
  float k_factor, q_factor;
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

__device__ bf16 cached_key(const e88_backward_args&, const Work& w, long long, int i) {
  return store(w.k[i]);
}

__device__ void load_keys(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
  }
  if (threadIdx.x / 32 == 0) {
    share_unit(a.k + row * kRows, w.unit_k, &w.k_factor);
  } else if (threadIdx.x / 32 == 1) {
    share_unit(a.q + row * kRows, w.q, &w.q_factor);
  }
}

__device__ const float* unit_key(const Work& w) {
  return w.unit_k;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  backward_with_norm(a, *reinterpret_cast<Work*>(shared));
}
