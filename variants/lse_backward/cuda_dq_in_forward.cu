// apo:variant    lse_backward/cuda_dq_in_forward
// apo:target     cuda sm_80
// apo:technique  dq-in-forward
// apo:parent     lse_backward/cuda_tensor_core
// apo:idea       dq is a factor a row of attention's output with V = K, by the forward's loop under a running maximum; lse comes last.
// apo:predict    0.8x..1.0x over parent: the same 4 products, and a maximum and a rescaling a tile; what it saves is not in this contract.
// apo:requires   D % 8 == 0 && D <= 128 && heads*group*ceil_div(S,64) <= 2147483647
// apo:launch     outputs grid=heads*group*ceil_div(S,64) block=128 shared=384*(8+(D<=64?64:128))
// apo:launch     to_keys grid=heads*ceil_div(keys,64) block=128 shared=384*(8+(D<=64?64:128))
#include "running_maximum.cuh"

namespace {

template <int kD>
__device__ void queries(const lse_backward_args& a) {
  using OwnQueries = Tiles<kD>;
  extern __shared__ uint4 shared[];
  const long long tiles = (a.S + OwnQueries::kOwn - 1) / OwnQueries::kOwn;
  // The last tiles first: with a causal mask they have the most keys.
  dq_tile<ByRunningMaximum>(a, blockIdx.x / tiles, (tiles - 1 - blockIdx.x % tiles) * OwnQueries::kOwn,
                            *reinterpret_cast<OwnQueries*>(shared));
}

template <int kD>
__device__ void keys(const lse_backward_args& a) {
  using OwnKeys = Tiles<kD>;
  extern __shared__ uint4 shared[];
  const long long tiles = (a.keys + OwnKeys::kOwn - 1) / OwnKeys::kOwn;
  dk_tile(a, blockIdx.x / tiles, blockIdx.x % tiles * OwnKeys::kOwn, *reinterpret_cast<OwnKeys*>(shared), OnlyKeys());
}

}  // namespace

extern "C" __global__ __launch_bounds__(128) void outputs(const lse_backward_args a) {
  if (a.D <= 64) {
    queries<64>(a);
  } else {
    queries<128>(a);
  }
}

extern "C" __global__ __launch_bounds__(128) void to_keys(const lse_backward_args a) {
  if (a.D <= 64) {
    keys<64>(a);
  } else {
    keys<128>(a);
  }
}
