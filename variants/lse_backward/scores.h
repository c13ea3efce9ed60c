// variants/lse_backward/scores.h - on a CPU: fp32 copies of q and k, what a query sees, and the weight of a pair.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bf16.h"
#include "lse_backward.args.h"

namespace {

inline std::vector<float> as_floats(const uint16_t* from, int64_t count) {
  std::vector<float> to(static_cast<size_t>(count));
  load(from, count, to.data());
  return to;
}

// A key is hidden from query i of S by its position or its segment.
inline bool is_hidden(const lse_backward_args& a, int64_t i, int64_t j) {
  return (a.causal && j > i + a.keys - a.S) || (a.segments && a.k_segment[j] != a.q_segment[i]);
}

// The keys that a query may see by its position.
inline int64_t seen_keys(const lse_backward_args& a, int64_t i) {
  return a.causal ? std::clamp<int64_t>(i + a.keys - a.S + 1, 0, a.keys) : a.keys;
}

// d lse / d score, with the score before the cap.
inline float weight_of(const lse_backward_args& a, float product, float lse) {
  const float score = a.scale * product;
  if (a.cap == 0) {
    return std::exp(score - lse);
  }
  const auto cap = static_cast<float>(a.cap);
  const float bent = std::tanh(score / cap);
  return std::exp(cap * bent - lse) * (1 - bent * bent);
}

// Sixteen sums side by side.
inline float dot(const float* __restrict x, const float* __restrict y, int64_t count) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int64_t d = 0;
  for (; d + kLanes <= count; d += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += x[d + lane] * y[d + lane];
    }
  }
  for (; d < count; ++d) {
    lanes[0] += x[d] * y[d];
  }
  float sum = 0;
  for (const float lane : lanes) {
    sum += lane;
  }
  return sum;
}

inline void add_scaled(float* __restrict to, float factor, const float* __restrict from, int64_t count) {
  for (int64_t d = 0; d < count; ++d) {
    to[d] += factor * from[d];
  }
}

inline void store_scaled(const float* from, float factor, int64_t count, uint16_t* to) {
  for (int64_t d = 0; d < count; ++d) {
    to[d] = store(factor * from[d]);
  }
}

}  // namespace
