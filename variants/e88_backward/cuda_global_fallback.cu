// apo:variant    e88_backward/cuda_global_fallback
// apo:target     cuda sm_80
// apo:technique  global-fallback
// apo:parent     cuda_shared_fallback
// apo:idea       S and dS live in global memory, so that no shape is too large and occupancy does not depend on the state.
// apo:predict    0.4x..0.9x over parent: each step moves the state some eight times through the L1 and the L2.
// apo:requires   B*H <= 2147483647
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:scratch    states 8*B*H*N*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(3*N+4*V+288)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "two_states.cuh"

namespace {

struct Work {
  static constexpr int kStride = kColumns;
  float k[kRows], q[kRows], dk[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
  float partial[kThreads];
};

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Sequence z(a);
  float* S = floats(a.states) + z.index * 2 * kState;
  backward_with_two_states(a, w, z, S, S + kState);
}
