// variants/lse_backward/fused_tiles.cuh - dk of a tile of keys, and from the same weights what these keys give to dq.
#pragma once
#include "tensor_tiles.cuh"

namespace {

// dq += weights k of each tile of weights, which crosses shared memory to change rows for columns. `give` gets the
// head, the query and the column of two neighbours of dq before dlse and scale.
template <int kD, class Give>
struct AlsoQueries {
  const Operand<kD>& keys;  // of the block
  Weights& transposed;
  Give give;

  __device__ void operator()(const HeadOf& of, const float (&p)[kTile / 8][4], const float (&)[kTile / 8][2],
                             long long first) const {
    const int own = threadIdx.x / 32 * 16;
    for_each_pair<kTile>(p, [&](int row, int column, float x, float y) {
      *reinterpret_cast<unsigned*>(&transposed.of[own + row][column]) = pack(x, y);
    });
    __syncthreads();
    unsigned weights[kTile / 16][4];
#pragma unroll
    for (int k = 0; k < kTile / 16; ++k) {
      transposed.left_transposed(weights[k], 16 * k, own);
    }
    float sums[kD / 8][4];
    clear<kD>(sums);
    add_product<kD>(weights, keys, sums);
    for_each_pair<kD>(sums, [&](int row, int d, float x, float y) {
      const long long i = first + own + row;
      if (i < of.a.S && d < of.a.D) {
        give(of.query_head * of.a.S + i, d, x, y);
      }
    });
    // The block's own barrier at the end of the tile keeps `transposed` until all have read it.
  }
};

template <int kD, class Give>
__device__ void fused_keys(const lse_backward_args& a, Give give) {
  extern __shared__ uint4 shared[];
  const long long tiles = (a.keys + kTile - 1) / kTile;
  auto* operands = reinterpret_cast<Tiles<kD>*>(shared);
  auto& transposed = *reinterpret_cast<Weights*>(operands + 1);
  dk_tile(a, blockIdx.x / tiles, blockIdx.x % tiles * kTile, *operands,
          AlsoQueries<kD, Give>{operands->own, transposed, give});
}

}  // namespace
