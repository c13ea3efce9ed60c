// variants/e88_backward/sequence.cuh - where a block finds its sequence, and the gradients that no state is needed for.
#pragma once
#include "e88_state.cuh"

namespace {

// The sequence of a block.
struct Sequence {
  long long b, h, index;
  __device__ explicit Sequence(const e88_backward_args& a)
      : b(blockIdx.x / a.H), h(blockIdx.x % a.H), index(blockIdx.x) {}
  // Of step t, in tensors [B,T,H,.].
  __device__ long long row(const e88_backward_args& a, long long t) const { return (b * a.T + t) * a.H + h; }
  // Of the segment whose first step is `first`.
  __device__ const bf16* checkpoint(const e88_backward_args& a, long long first) const {
    return a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
  }
};

// The first step of the last segment.
inline __device__ long long last_segment(const e88_backward_args& a) {
  return (a.T - 1) / kSegment * kSegment;
}

// Of the segment whose first step is `first`.
inline __device__ int count_steps(const e88_backward_args& a, long long first) {
  return min(static_cast<long long>(kSegment), a.T - first);
}

inline __device__ float* floats(void* scratch) {
  return static_cast<float*>(scratch);
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
inline __device__ float gate_gradient(const e88_backward_args& a, long long at) {
  const float d_output = load(a.d_output[at]);
  if (!kGATE) {
    a.dg[at] = store(0.0f);
    return d_output;
  }
  const float g = load(a.g[at]);
  const float sigmoid = 1.0f / (1.0f + expf(-g));
  a.dg[at] = store(d_output * load(a.y_cache[at]) * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  return d_output * g * sigmoid;
}

// From the parts that the warps left behind a barrier.
template <class Work>
__device__ void store_decay_gradient(const e88_backward_args& a, const Work& w, long long row) {
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) {
      sum += w.d_decay[warp];
    }
    a.ddecay[row] = store(sum);
  }
}

}  // namespace
