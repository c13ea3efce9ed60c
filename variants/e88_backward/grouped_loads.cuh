// grouped_loads.cuh - inputs that are asked for together and long before they are needed, and go into shared memory
// when the work before them is done.
#pragma once
#include "eight_steps.cuh"

namespace {

// Inputs of eight steps on their way from memory, eight elements a lane. Nothing is converted before it is needed: that
// would wait for it.
struct Keys {
  uint4 k, v;
  bf16 decay;
};

struct Others {
  uint4 q, dy, g, y;
};

inline __device__ Keys fetch_keys(const e88_backward_args& a, const Slice& z) {
  return {load_words(a.k + z.at, z.there), load_words(a.v + z.at, z.there), z.there ? a.decay[z.row] : bf16()};
}

inline __device__ Others fetch_others(const e88_backward_args& a, const Slice& z) {
  return {load_words(a.q + z.at, z.there), load_words(a.d_output + z.at, z.there),
          load_words(a.g + z.at, z.there && kGATE), load_words(a.y_cache + z.at, z.there && kGATE)};
}

// Returns k^.
template <class Work>
__device__ Eight deposit(const Keys& in, Work& w, const Slice& z) {
  Eight k = unpack(in.k);
  const float factor = normalise(k);
  if constexpr (requires { w.k_factor; }) {
    w.k_factor[z.step] = factor;
  }
  store_eight(k, &w.k[z.step][z.part]);
  store_eight(unpack(in.v), &w.delta[z.step][z.part]);
  w.decay[z.step] = load(in.decay);
  return k;
}

// q^, dy = d_output * silu(g), and dg = d_output * y * silu'(g). Returns dy.
template <class Work>
__device__ Eight deposit(const e88_backward_args& a, const Others& in, Work& w, const Slice& z) {
  Eight q = unpack(in.q), dy = unpack(in.dy), dg = {};
  const float factor = normalise(q);
  if constexpr (requires { w.q_factor; }) {
    w.q_factor[z.step] = factor;
  }
  store_eight(q, &w.q[z.step][z.part]);
  if (kGATE) {
    const Eight g = unpack(in.g), y = unpack(in.y);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float sigmoid = logistic(g.x[i]);
      dg.x[i] = dy.x[i] * y.x[i] * sigmoid * (1.0f + g.x[i] * (1.0f - sigmoid));
      dy.x[i] *= g.x[i] * sigmoid;
    }
  }
  store_eight(dy, &w.dy[z.step][z.part]);
  store_eight(dg, a.dg + z.at, z.there);
  return dy;
}

}  // namespace
