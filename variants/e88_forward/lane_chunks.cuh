// variants/e88_forward/lane_chunks.cuh - what a warp does before and after the 16 steps of a chunk, 16 bytes a lane:
// inputs are fetched a chunk ahead, k^ and q^ go into shared memory, y comes out of it and is gated. The warp has
// kWidth columns.
#pragma once
#include "e88_sizes.cuh"
#include "words.cuh"

namespace {

// k^ or q^: kLanes neighbouring lanes hold a row, eight entries each.
template <int kLanes>
__device__ void store_unit(const uint4& words, float* to) {
  Eight x = unpack(words);
  const float squares = sum_of_lanes<kLanes>(dot_of_eight(x, x));
  scale(x, kNORM ? rsqrtf(squares + 1e-12f) : 1.0f);
  store_eight(x, to);
}

// y_cache and the gated output at `at`, from eight y.
template <float (*kLogistic)(float)>
__device__ void store_output(const e88_forward_args& a, Eight y, const uint4& gates, long long at) {
  *reinterpret_cast<uint4*>(a.y_cache + at) = pack(y);
  if (kGATE) {
    const Eight g = unpack(gates);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      y.x[i] *= g.x[i] * kLogistic(g.x[i]);
    }
  }
  *reinterpret_cast<uint4*>(a.output + at) = pack(y);
}

constexpr int kRowLanes = kRows / 8;  // that hold a row of k or q, eight entries each
constexpr int kRowPasses = kSegment * kRowLanes / 32;
template <int kWidth>
constexpr int kColumnPasses = kSegment* kWidth / 8 / 32;

// The inputs of a chunk on their way from memory: eight neighbours a word group.
template <int kWidth>
struct Inputs {
  uint4 k[kRowPasses], q[kRowPasses], v[kColumnPasses<kWidth>], g[kColumnPasses<kWidth>];
  float decay;
};

// k and q of the chunk whose first step is `row` of tensors [B,T,H,.].
template <int kWidth>
__device__ void fetch_rows(const e88_forward_args& a, Inputs<kWidth>& in, int lane, long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes;
    const long long at = (row + s * a.H) * kRows + lane % kRowLanes * 8;
    in.k[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.k + at) : uint4{};
    in.q[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.q + at) : uint4{};
  }
}

template <class Work, int kWidth>
__device__ void deposit(const Inputs<kWidth>& in, Work& w, int lane) {
#pragma unroll
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes, part = lane % kRowLanes * 8;
    store_unit<kRowLanes>(in.k[pass], &w.k[s][part]);
    store_unit<kRowLanes>(in.q[pass], &w.q[s][part]);
  }
#pragma unroll
  for (int pass = 0; pass < kColumnPasses<kWidth>; ++pass) {
    const int s = (pass * 32 + lane) / (kWidth / 8);
    *reinterpret_cast<uint4*>(&w.v[s][lane % (kWidth / 8) * 8]) = in.v[pass];
  }
  if (lane < kSegment) {
    w.decay[lane] = in.decay;
  }
}

}  // namespace
