// apo:variant    lse_backward/cuda_dq_in_forward
// apo:target     cuda sm_80
// apo:technique  dq-in-forward
// apo:parent     lse_backward/cuda_tensor_core
// apo:idea       dq is a factor a row of attention's output with V = K, by the forward's loop under a running maximum; lse comes last.
// apo:predict    0.8x..1.0x over parent: the same 4 products, and a maximum and a rescaling a tile; what it saves is not in this contract.
// apo:requires   D % 8 == 0 && D <= 128 && heads*group*ceil_div(S,64) <= 2147483647
// apo:launch     outputs grid=heads*group*ceil_div(S,64) block=128 shared=384*(8+(D<=64?64:128))
// apo:launch     to_keys grid=heads*ceil_div(keys,64) block=128 shared=384*(8+(D<=64?64:128))
//
// dq = dlse scale exp(largest - lse) sum_j exp(s_j - largest) k_j: a training step that runs outputs() as its forward
// has lse and dq but for dlse from one loop, 2 products in place of 1 there and 2 in place of 4 here, so 4 in place
// of 5.
#include "tensor_tiles.cuh"

namespace {

// The largest score so far in place of lse, as in a forward, which does not know it yet.
struct ByRunningMaximum {
  float given[2];  // lse

  __device__ void begin(float (&largest)[2]) {
    for (int r = 0; r < 2; ++r) {
      given[r] = largest[r];
      largest[r] = -1e30f;
    }
  }
  template <int kD, class Hidden>
  __device__ void look(const Scale& scale, const float (&p)[kTile / 8][4], float (&sums)[kD / 8][4],
                       float (&largest)[2], Hidden is_hidden_pair) {
    float smaller[2] = {largest[0], largest[1]};
#pragma unroll
    for (int n = 0; n < kTile / 8; ++n) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float score = is_hidden_pair(n, v) ? -1e30f : scale.score2(p[n][v]);
        largest[v / 2] = fmaxf(largest[v / 2], score);
      }
    }
    for (int r = 0; r < 2; ++r) {  // the four lanes of a row
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(kAll, largest[r], 1));
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(kAll, largest[r], 2));
      smaller[r] = exp2f(smaller[r] - largest[r]);
    }
#pragma unroll
    for (int n = 0; n < kD / 8; ++n) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        sums[n][v] *= smaller[v / 2];
      }
    }
  }
  __device__ void finish(const float (&largest)[2], float (&factor)[2]) const {
    for (int r = 0; r < 2; ++r) {
      factor[r] *= exp2f(largest[r] - given[r]);
    }
  }
};

template <int kD>
__device__ void queries(const lse_backward_args& a) {
  extern __shared__ uint4 shared[];
  const long long tiles = (a.S + kTile - 1) / kTile;
  dq_tile<kD, ByRunningMaximum>(a, blockIdx.x / tiles, (tiles - 1 - blockIdx.x % tiles) * kTile,
                                reinterpret_cast<Operand<kD>*>(shared));
}

template <int kD>
__device__ void keys(const lse_backward_args& a) {
  extern __shared__ uint4 shared[];
  const long long tiles = (a.keys + kTile - 1) / kTile;
  dk_tile<kD>(a, blockIdx.x / tiles, blockIdx.x % tiles * kTile, reinterpret_cast<Operand<kD>*>(shared), OnlyKeys());
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
