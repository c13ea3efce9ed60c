// apo:variant    e88_backward/cuda_padded_cache
// apo:target     cuda sm_80
// apo:technique  padded-cache
// apo:parent     cuda_simple
// apo:idea       Each cached step starts on a 64-byte boundary: its N*V+N+V+1 elements are padded, so rows of the state are aligned.
// apo:predict    0.98x..1.03x over parent: saves split sectors of the cache, which lives in the L2; barriers and serial sums dominate.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+12*N+16*V+128 <= 166912
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+32)
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+3*N+4*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "phases.cuh"

namespace {

struct Work : SimpleWork {
  static constexpr int kEntry = (SimpleWork::kEntry + 31) / 32 * 32;  // padded to 64 bytes
};

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  backward_by_phases(a, *reinterpret_cast<Work*>(shared));
}
