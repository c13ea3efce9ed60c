// variants/e88_forward/phases.cuh - the phases of cuda_simple, 256 threads a sequence, and the kernels that they make
// up. A variant takes what it leaves as it is. What it defines anew for a struct Work of its own is what the functions
// here call: they find it by its arguments.
#pragma once
#include "e88_state.cuh"

namespace {

// What the block of one sequence keeps in shared memory.
struct SimpleWork {
  float S[kRows * kStride];
  float k[kRows], q[kRows];
  float v[kColumns], delta[kColumns];
};

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

template <class Args, class Work>
__device__ void load_keys(const Args& a, Work& w, long long row) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = static_cast<const float*>(a.unit_k)[row * kRows + i];
    w.q[i] = static_cast<const float*>(a.unit_q)[row * kRows + i];
  }
}

// y of the step and column at `at`, for the gate's pass and for the backward.
template <class Args, class Work>
__device__ void store_output(const Args& a, const Work&, long long at, float y) {
  static_cast<float*>(a.ungated)[at] = y;
  a.y_cache[at] = store(y);
}

inline __device__ float gated(float y, float g) {
  return kGATE ? y * g / (1.0f + expf(-g)) : y;
}

// One step of the recurrence; `row` is that of the step in [B,T,H].
template <class Work>
__device__ void step(const e88_forward_args& a, Work& w, long long row) {
  load_keys(a, w, row);
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(a.v[row * kColumns + j]);
  }
  const float decay = load(a.decay[row]);
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = w.v[j] - column_dot(w.S, j, w.k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(decay * S + w.k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    const float y = column_dot(w.S, j, w.q);
    store_output(a, w, row * kColumns + j, y);
  }
  __syncthreads();
}

// The kernel: a step at a time, and a checkpoint before each segment.
template <class Work>
__device__ void forward_by_phases(const e88_forward_args& a, Work& w) {
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

// output = y * silu(g), a pass of its own over memory.
template <class Args>
__device__ void gate_all(const Args& a) {
  const long long count = a.B * a.T * a.H * kColumns;
  for (long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; at < count;
       at += gridDim.x * static_cast<long long>(blockDim.x)) {
    const float y = static_cast<const float*>(a.ungated)[at], g = load(a.g[at]);
    a.output[at] = store(gated(y, g));
  }
}

}  // namespace
