// variants/lse_backward/scores.cuh - on a GPU: what a query sees, the weight of a pair, and which rows are whose.
#pragma once
#include "lse_backward.args.h"
#include "words.cuh"

namespace {

// A key is hidden from query i of S by its position or its segment.
inline __device__ bool is_hidden(const lse_backward_args& a, long long i, long long j) {
  return (a.causal && j > i + a.keys - a.S) || (a.segments && a.k_segment[j] != a.q_segment[i]);
}

// d lse / d score, with the score before the cap.
inline __device__ float weight_of(const lse_backward_args& a, float product, float lse) {
  const float score = a.scale * product;
  if (a.cap == 0) {
    return expf(score - lse);
  }
  const float cap = static_cast<float>(a.cap);
  const float bent = tanhf(score / cap);
  return expf(cap * bent - lse) * (1 - bent * bent);
}

}  // namespace
