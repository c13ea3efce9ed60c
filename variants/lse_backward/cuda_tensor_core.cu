// apo:variant    lse_backward/cuda_tensor_core
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  cp-async
// apo:parent     lse_backward/cuda_two_kernels
// apo:idea       mma.sync on tiles of 64 by 64; the weights stay in registers between the two products that make and use them.
// apo:predict    8x..40x over parent: 4 products at 200 to 400 TFLOP/s in place of some 10 on CUDA cores.
// apo:requires   D % 8 == 0 && D <= 128 && heads*group*ceil_div(S,64) <= 2147483647
// apo:launch     to_queries grid=heads*group*ceil_div(S,64) block=128 shared=384*(8+(D<=64?64:128))
// apo:launch     to_keys grid=heads*ceil_div(keys,64) block=128 shared=384*(8+(D<=64?64:128))
#include "tensor_tiles.cuh"

namespace {

template <int kD>
__device__ void queries(const lse_backward_args& a) {
  extern __shared__ uint4 shared[];
  const long long tiles = (a.S + kTile - 1) / kTile;
  // The last tiles first: with a causal mask they have the most keys.
  dq_tile<kD>(a, blockIdx.x / tiles, (tiles - 1 - blockIdx.x % tiles) * kTile, reinterpret_cast<Operand<kD>*>(shared));
}

template <int kD>
__device__ void keys(const lse_backward_args& a) {
  extern __shared__ uint4 shared[];
  const long long tiles = (a.keys + kTile - 1) / kTile;
  dk_tile<kD>(a, blockIdx.x / tiles, blockIdx.x % tiles * kTile, reinterpret_cast<Operand<kD>*>(shared), OnlyKeys());
}

}  // namespace

extern "C" __global__ __launch_bounds__(128) void to_queries(const lse_backward_args a) {
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
