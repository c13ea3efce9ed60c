// product_steps.cuh - a replay whose retrievals are products on the tensor cores: the state in fp16, which the history
// needs in any case, is their left operand as the lanes hold it, and each lane gets the sums of its columns.
#pragma once
#include "half_products.cuh"
#include "parked_sums.cuh"

namespace {

// k^ in fp16 for the products, from where prepare_keys left it.
template <class Work>
__device__ void prepare_products(const Work& w, HalfVector* units, const Slice& z) {
  units[z.step].store(load_eight(&w.k[z.step][z.part]), z.part);
}

// The steps of half a segment; calls keep(s, S_{t-1}, delta) for each, after all lanes have read its v.
template <class Work, class Keep>
__device__ void replay_products(Work& w, const HalfVector* units, const RowPlace& p, int steps, Tile& S, Keep keep) {
  Packed states;
  float retrieved[4];
  pack_tile(S, states);
  sums_over_rows(states, units[0].operand(), retrieved);
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    float k[8], delta[4];
    load_columns(p, w.delta[s], delta);
    load_rows(p, w.k[s], k);
    const uint4 next_unit = units[min(s + 1, kHalf - 1)].operand();
    const float decay = w.decay[s];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      delta[c] -= retrieved[c];
    }
    __syncwarp();  // every lane has read its v
    keep(s, states, delta);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
      }
    }
    pack_tile(S, states);
    sums_over_rows(states, next_unit, retrieved);
  }
}

// What a warp keeps in shared memory for half a segment.
struct ProductWork {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it; then parts of dq^ and dk^
  float k[kHalf][kSide];
  alignas(16) float q[kHalf][kSide];  // while steps are replayed: k^ in fp16
  float dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
  __device__ HalfVector* units() { return reinterpret_cast<HalfVector*>(q); }
};
static_assert(sizeof(HalfVector) == sizeof(float[kSide]));

// For backward_parked.
struct ProductSteps : ParkedReverse {
  static __device__ void prepare(const e88_backward_args& a, ProductWork& w, const Slice& z) {
    prepare_keys(a, w, z);
    prepare_products(w, w.units(), z);
  }
  static __device__ void replay(ProductWork& w, const RowPlace& p, const Below& below, int steps, bool resident,
                                Tile& S) {
    replay_products(w, w.units(), p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      keep_step(w, p, below, s, resident, states, delta);
    });
  }
};

}  // namespace
