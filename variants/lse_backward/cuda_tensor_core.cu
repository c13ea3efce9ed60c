// apo:variant    lse_backward/cuda_tensor_core
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  cp-async
// apo:parent     lse_backward/cuda_two_kernels
// apo:idea       mma.sync on tiles of queries by keys; the weights stay in registers between the two products that make and use them.
// apo:predict    8x..40x over parent: 4 products at 200 to 400 TFLOP/s in place of some 10 on CUDA cores.
// apo:toggle     DQ_IN_FORWARD dq-in-forward
// apo:tune       QUERY_ROWS 64,128,32
// apo:tune       QUERY_STEP 64,32
// apo:tune       QUERY_STAGES 2,3
// apo:tune       KEY_ROWS 64,128,32
// apo:tune       KEY_STEP 64,32
// apo:tune       KEY_STAGES 2,3
// apo:tune       BLOCKS_PER_SM 1,3
// apo:requires   D % 8 == 0 && D <= 128 && heads*group*ceil_div(S,QUERY_ROWS) <= 2147483647
// apo:launch     to_queries grid=heads*group*ceil_div(S,QUERY_ROWS) block=2*QUERY_ROWS shared=2*(QUERY_ROWS+QUERY_STEP*QUERY_STAGES)*(8+(D<=64?64:128))
// apo:launch     to_keys grid=heads*ceil_div(keys,KEY_ROWS) block=2*KEY_ROWS shared=2*(KEY_ROWS+KEY_STEP*KEY_STAGES)*(8+(D<=64?64:128))
//
// A block of to_queries owns QUERY_ROWS queries, 16 a warp, and walks along QUERY_STEP keys at a time, of which
// QUERY_STAGES tiles are in shared memory; to_keys the other way round. DQ_IN_FORWARD: dq by the forward's loop.
#include "running_maximum.cuh"

namespace {

#if DQ_IN_FORWARD
using Rows = ByRunningMaximum;
#else
using Rows = ByLse;
#endif

template <int kD>
__device__ void queries(const lse_backward_args& a) {
  using OwnQueries = Tiles<kD, QUERY_ROWS, QUERY_STEP, QUERY_STAGES>;
  extern __shared__ uint4 shared[];
  const long long tiles = (a.S + OwnQueries::kOwn - 1) / OwnQueries::kOwn;
  // The last tiles first: with a causal mask they have the most keys.
  dq_tile<Rows>(a, blockIdx.x / tiles, (tiles - 1 - blockIdx.x % tiles) * OwnQueries::kOwn,
                *reinterpret_cast<OwnQueries*>(shared));
}

template <int kD>
__device__ void keys(const lse_backward_args& a) {
  using OwnKeys = Tiles<kD, KEY_ROWS, KEY_STEP, KEY_STAGES>;
  extern __shared__ uint4 shared[];
  const long long tiles = (a.keys + OwnKeys::kOwn - 1) / OwnKeys::kOwn;
  dk_tile(a, blockIdx.x / tiles, blockIdx.x % tiles * OwnKeys::kOwn, *reinterpret_cast<OwnKeys*>(shared), OnlyKeys());
}

}  // namespace

extern "C" __global__ __launch_bounds__(2 * QUERY_ROWS, BLOCKS_PER_SM) void to_queries(const lse_backward_args a) {
  if (a.D <= 64) {
    queries<64>(a);
  } else {
    queries<128>(a);
  }
}

extern "C" __global__ __launch_bounds__(2 * KEY_ROWS, BLOCKS_PER_SM) void to_keys(const lse_backward_args a) {
  if (a.D <= 64) {
    keys<64>(a);
  } else {
    keys<128>(a);
  }
}
