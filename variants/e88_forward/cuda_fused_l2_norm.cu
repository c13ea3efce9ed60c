// apo:variant    e88_forward/cuda_fused_l2_norm
// apo:target     cuda sm_80
// apo:technique  fused-l2-norm
// apo:parent     cuda_simple
// apo:idea       Two warps normalise k and q as they load them: no fp32 copies in memory and one kernel less.
// apo:predict    0.98x..1.06x over parent: a pass of 260 MB goes, five shuffles join the load phase of each step.
// apo:requires   B*H <= 2147483647
// apo:scratch    ungated 4*B*T*H*V
// apo:launch     forward grid=B*H block=256 shared=4*(N*(V+1)+2*N+2*V)
// apo:launch     gate grid=min(ceil_div(B*T*H*V,256),32*SMS) block=256
#include "e88_forward.args.h"
#include "phases.cuh"

namespace {

struct Work : SimpleWork {};

__device__ void load_keys(const e88_forward_args& a, Work& w, long long row) {
  if (threadIdx.x / 32 == 0) {
    normalise_row(a.k + row * kRows, w.k);
  } else if (threadIdx.x / 32 == 1) {
    normalise_row(a.q + row * kRows, w.q);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) forward(const e88_forward_args a) {
  extern __shared__ float shared[];
  forward_by_phases(a, *reinterpret_cast<Work*>(shared));
}

extern "C" __global__ void gate(const e88_forward_args a) {
  gate_all(a);
}
