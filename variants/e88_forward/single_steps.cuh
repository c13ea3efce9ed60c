// variants/e88_forward/single_steps.cuh - the walk of cuda_simple: the inputs of a step are loaded as it begins.
#pragma once
#include "phases.cuh"

namespace {

// What the block of one sequence keeps in shared memory.
struct Work {
  float S[kRows * kStride];
  float k[kRows], q[kRows];
  float v[kColumns], delta[kColumns];
};

// FUSED_L2_NORM: two warps normalise k and q as they load them: no fp32 copies in memory and one kernel less.
__device__ void load_keys(const e88_forward_args& a, Work& w, long long row) {
#if FUSED_L2_NORM
  if (threadIdx.x / 32 == 0) {
    normalise_row(a.k + row * kRows, w.k);
  } else if (threadIdx.x / 32 == 1) {
    normalise_row(a.q + row * kRows, w.q);
  }
#else
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = static_cast<const float*>(a.unit_k)[row * kRows + i];
    w.q[i] = static_cast<const float*>(a.unit_q)[row * kRows + i];
  }
#endif
}

__device__ void step(const e88_forward_args& a, Work& w, long long row) {
  load_keys(a, w, row);
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(a.v[row * kColumns + j]);
  }
  const float decay = load(a.decay[row]);
  __syncthreads();
  advance(a, w, w, decay, row);
}

// A step at a time, and a checkpoint before each segment.
__device__ void walk(const e88_forward_args& a, Work& w) {
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  load_first(a, w, sequence);
  __syncthreads();
  for (long long t = 0; t < a.T; ++t) {
    if (t % kSegment == 0) {
      store_state(w, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kState);
    }
    step(a, w, (b * a.T + t) * a.H + h);
  }
  store_state(w, a.s_final + sequence * kState);
}

}  // namespace
