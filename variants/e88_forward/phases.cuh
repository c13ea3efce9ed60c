// variants/e88_forward/phases.cuh - the phases of cuda_simple, a block a sequence, with what its toggles change in
// them.
#pragma once
#include "e88_sums.cuh"

namespace {

template <class Work>
__device__ void load_first(const e88_forward_args& a, Work& w, long long sequence) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(a.s0[sequence * kState + e]);
  }
}

template <class Work>
__device__ void store_state(const Work& w, bf16* to) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    to[e] = store(w.S[place(e)]);
  }
}

inline __device__ float gated(float y, float g) {
  return kGATE ? y * g / (1.0f + expf(-g)) : y;
}

// y of the step and column at `at`. FUSED_GATE: the thread that has y applies the gate, so that y makes no round trip
// through memory in fp32.
inline __device__ void store_output(const e88_forward_args& a, long long at, float y) {
#if FUSED_GATE
  const float g = load(a.g[at]);
  a.y_cache[at] = store(y);
  a.output[at] = store(gated(y, g));
#else
  static_cast<float*>(a.ungated)[at] = y;
  a.y_cache[at] = store(y);
#endif
}

// The recurrence of a step. `in` has its k, q and v: the Work itself, or rows of a chunk; `row` is that of the step in
// [B,T,H].
template <class Work, class In>
__device__ void advance(const e88_forward_args& a, Work& w, const In& in, float decay, long long row) {
  column_dots(w.S, in.k, [&](int j, auto sum) { w.delta[j] = load(in.v[j]) - sum(j); });
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanh_of_state(decay * S + in.k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
  column_dots(w.S, in.q, [&](int j, auto sum) {
    const float y = sum(j);
    store_output(a, row * kColumns + j, y);
  });
  __syncthreads();
}

}  // namespace
