// variants/e88_backward/eight_steps.cuh - what a warp does before and after the recurrence where N = V = 32, for eight
// steps at a time: k^, q^ and dy go into shared memory, gradients out of it. Four lanes hold a row, eight entries each.
#pragma once
#include "e88_sizes.cuh"
#include "words.cuh"

namespace {

constexpr int kHalf = 8;   // steps of a segment whose states are kept at a time
constexpr int kSide = 32;  // N = V = 32

inline __device__ float sum_of_four_lanes(float x) {
  x += __shfl_xor_sync(kAll, x, 1);
  return x + __shfl_xor_sync(kAll, x, 2);
}

inline __device__ float dot(const Eight& a, const Eight& b) {
  return sum_of_four_lanes(dot_of_eight(a, b));
}

// x^ from x, and its factor
inline __device__ float normalise(Eight& values) {
  if (!kNORM) {
    return 1.0f;
  }
  const float factor = rsqrtf(dot(values, values) + 1e-12f);
  scale(values, factor);
  return factor;
}

// Where a lane works before and after the recurrence: elements part..part+7 of step `step`.
struct Slice {
  int step, part;
  bool there;
  long long row, at;
  __device__ Slice(const e88_backward_args& a, int lane, long long first_row, int steps)
      : step(lane / 4), part(lane % 4 * 8), there(step < steps), row(first_row + step * a.H), at(row * kSide + part) {}
};

// k^ and a, and v where delta will stand; the factor of k where the Work keeps it.
template <class Work>
__device__ void prepare_keys(const e88_backward_args& a, Work& w, const Slice& z) {
  Eight k = load_eight(a.k + z.at, z.there);
  const Eight v = load_eight(a.v + z.at, z.there);
  const float factor = normalise(k);
  if constexpr (requires { w.k_factor; }) {
    w.k_factor[z.step] = factor;
  }
  store_eight(k, &w.k[z.step][z.part]);
  store_eight(v, &w.delta[z.step][z.part]);
  if (z.part == 0) {
    w.decay[z.step] = z.there ? load(a.decay[z.row]) : 0.0f;
  }
}

// q^, dy = d_output * silu(g), and dg = d_output * y * silu'(g); without a gate o = y.
template <float (*kLogistic)(float), class Work>
__device__ void prepare_reverse(const e88_backward_args& a, Work& w, const Slice& z) {
  Eight q = load_eight(a.q + z.at, z.there), dy = load_eight(a.d_output + z.at, z.there), dg = {};
  const float factor = normalise(q);
  if constexpr (requires { w.q_factor; }) {
    w.q_factor[z.step] = factor;
  }
  store_eight(q, &w.q[z.step][z.part]);
  if (kGATE) {
    const Eight g = load_eight(a.g + z.at, z.there), y = load_eight(a.y_cache + z.at, z.there);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float sigmoid = kLogistic(g.x[i]);
      dg.x[i] = dy.x[i] * y.x[i] * sigmoid * (1.0f + g.x[i] * (1.0f - sigmoid));
      dy.x[i] *= g.x[i] * sigmoid;
    }
  }
  store_eight(dy, &w.dy[z.step][z.part]);
  store_eight(dg, a.dg + z.at, z.there);
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon)
inline __device__ void finish_gradient(const bf16* x, const float* gradient, bf16* dx, const Slice& z) {
  Eight d = load_eight(gradient);
  if (kNORM) {
    Eight unit = load_eight(x + z.at, z.there);
    const float factor = normalise(unit), along = dot(unit, d);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = (d.x[i] - unit.x[i] * along) * factor;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

// From where the recurrence left it: dv in place of dy.
template <class Work>
__device__ void finish_values(const e88_backward_args& a, const Work& w, const Slice& z) {
  store_eight(load_eight(&w.dy[z.step][z.part]), a.dv + z.at, z.there);
}

// The lanes' parts of ddecay, in place of delta.
template <class Work>
__device__ void finish_decay(const e88_backward_args& a, const Work& w, const Slice& z) {
  const Eight parts = load_eight(&w.delta[z.step][z.part]);
  const Eight ones = {1, 1, 1, 1, 1, 1, 1, 1};
  const float d_decay = dot(parts, ones);
  if (z.there && z.part == 0) {
    a.ddecay[z.row] = store(d_decay);
  }
}

// Asks the L2 for a segment whose first step is `row`.
inline __device__ void prefetch_segment(const e88_backward_args& a, int lane, long long row, const bf16* checkpoint) {
  const long long at = (row + lane / 2 * a.H) * kSide + lane % 2 * (kSide / 2);  // 32 bytes of 16 rows
  prefetch(a.k + at);
  prefetch(a.v + at);
  prefetch(a.q + at);
  prefetch(a.d_output + at);
  if (kGATE) {
    prefetch(a.g + at);
    prefetch(a.y_cache + at);
  }
  prefetch(checkpoint + lane * 16);
  prefetch(checkpoint + lane * 16 + kState / 2);
}

}  // namespace
