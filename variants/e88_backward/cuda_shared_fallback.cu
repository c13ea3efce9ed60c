// apo:variant    e88_backward/cuda_shared_fallback
// apo:target     cuda sm_80
// apo:technique  shared-fallback
// apo:parent     cuda_simple
// apo:idea       Two states of up to 128 x 128 stay in shared memory: S_t is never stored, a warp takes a row through tanh, dq, dk and ddecay at once.
// apo:predict    1.3x..2.5x over parent: half the shared memory and 8 barriers with no serial sums; above 96 x 96 the parent does not fit.
// apo:toggle     GLOBAL_STATES global-fallback
// apo:requires   B*H <= 2147483647
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:scratch    states 8*B*H*N*V when=GLOBAL_STATES
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*((GLOBAL_STATES ? 0 : 2*N*(V+1))+3*N+4*V+288)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "two_states.cuh"

namespace {

// GLOBAL_STATES: S and dS live in global memory, so that no shape is too large and occupancy does not depend on the
// state.
struct Work {
#if GLOBAL_STATES
  static constexpr int kStride = kColumns;
#else
  static constexpr int kStride = ::kStride;
  float S[kRows * kStride], dS[kRows * kStride];
#endif
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
#if GLOBAL_STATES
  float* S = floats(a.states) + z.index * 2 * kState;
  backward_with_two_states(a, w, z, S, S + kState);
#else
  backward_with_two_states(a, w, z, w.S, w.dS);
#endif
}
