// variants/e88_backward/two_states.cuh - steps that keep S and dS alone, wherever these are: S_t is never stored, a
// warp takes a row through tanh, dq, dk and ddecay at once. A struct Work has kStride, the distance of two rows of a
// state.
#pragma once
#include "sequence.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kEntry = kState + kRows + kColumns + 1;                    // cached per step: S_{t-1}, k^, v, a
constexpr int kGroup = kColumns <= 32 ? 32 : kColumns <= 64 ? 64 : 128;  // threads that take a row together

// Where element e of a state, in row-major order, stands.
template <class Work>
__device__ int place_in(int e) {
  return Work::kStride == kColumns ? e : place(e);
}

// Adds up sum_i S[i][j] x[i] for each column; a thread a column, or several that meet in shared memory.
template <class Work>
__device__ void column_dots(Work& w, const float* S, float* sums) {
  const int groups = blockDim.x / kGroup, group = threadIdx.x / kGroup, j = threadIdx.x % kGroup;
  float sum = 0;
  for (int i = group; i < kRows && j < kColumns; i += groups) {
    sum += S[i * Work::kStride + j] * w.k[i];
  }
  w.partial[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < kColumns) {
    sum = 0;
    for (int g = 0; g < groups; ++g) {
      sum += w.partial[g * kGroup + threadIdx.x];
    }
    sums[threadIdx.x] = sum;
  }
}

// Leaves S_{t-1}, k^, v and a of each step of the segment in `history`.
template <class Work>
__device__ void replay_two_states(const e88_backward_args& a, Work& w, float* S, const Sequence& z, long long first,
                                  int steps, bf16* history) {
  const bf16* checkpoint = z.checkpoint(a, first);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    S[place_in<Work>(e)] = load(checkpoint[e]);
  }
  for (int s = 0; s < steps; ++s) {
    const long long row = z.row(a, first + s);
    bf16* entry = history + s * kEntry;
    const float decay = load(a.decay[row]);
    for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
      w.k[i] = floats(a.unit_k)[row * kRows + i];
      entry[kState + i] = store(w.k[i]);
    }
    for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
      w.v[j] = load(a.v[row * kColumns + j]);
      entry[kState + kRows + j] = a.v[row * kColumns + j];
    }
    if (threadIdx.x == 0) {
      entry[kEntry - 1] = a.decay[row];
    }
    __syncthreads();
    column_dots(w, S, w.delta);
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      const float before = S[place_in<Work>(e)];
      entry[e] = store(before);
      const float delta = w.v[e % kColumns] - w.delta[e % kColumns];
      S[place_in<Work>(e)] = tanhf(decay * before + w.k[e / kColumns] * delta);
    }
    __syncthreads();
  }
}

// From the cache and the inputs: k^, q^, v and dy; returns the decay.
template <class Work>
__device__ float load_vectors(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
    w.q[i] = floats(a.unit_q)[row * kRows + i];
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(entry[kState + kRows + j]);
    w.dy[j] = gate_gradient(a, row * kColumns + j);
  }
  return load(entry[kState + kRows + kColumns]);
}

// Turns dS = dL/dS_t into dL/dS_{t-1} and writes the gradients of the step; a warp a row.
template <class Work>
__device__ void reverse_two_states(const e88_backward_args& a, Work& w, float* S, float* dS, long long row,
                                   const bf16* entry) {
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    S[place_in<Work>(e)] = load(entry[e]);
  }
  const float decay = load_vectors(a, w, row, entry);
  __syncthreads();
  column_dots(w, S, w.delta);
  __syncthreads();

  float d_decay = 0;
  for (int i = warp; i < kRows; i += warps) {
    float dq = 0, dk = 0;
    for (int j = lane; j < kColumns; j += 32) {
      const int at = i * Work::kStride + j;
      const float delta = w.v[j] - w.delta[j];
      const float next = tanhf(decay * S[at] + w.k[i] * delta);
      const float through = (dS[at] + w.q[i] * w.dy[j]) * (1.0f - next * next);
      dS[at] = through;
      dq += next * w.dy[j];
      dk += through * delta;
      d_decay += through * S[at];
    }
    dq = sum_of_lanes(dq);
    dk = sum_of_lanes(dk);
    if (lane == 0) {
      floats(a.gradient_q)[row * kRows + i] = dq;
      w.dk[i] = dk;
    }
  }
  d_decay = sum_of_lanes(d_decay);
  if (lane == 0) {
    w.d_decay[warp] = d_decay;
  }
  __syncthreads();
  column_dots(w, dS, w.d_delta);
  __syncthreads();

  if (threadIdx.x < kColumns) {
    a.dv[row * kColumns + threadIdx.x] = store(w.d_delta[threadIdx.x]);
  }
  store_decay_gradient(a, w, row);
  for (int i = warp; i < kRows; i += warps) {
    float dk = 0;
    for (int j = lane; j < kColumns; j += 32) {
      const int at = i * Work::kStride + j;
      dk += S[at] * w.d_delta[j];
      dS[at] = decay * dS[at] - w.k[i] * w.d_delta[j];
    }
    dk = sum_of_lanes(dk);
    if (lane == 0) {
      floats(a.gradient_k)[row * kRows + i] = w.dk[i] - dk;
    }
  }
  __syncthreads();
}

template <class Work>
__device__ void backward_with_two_states(const e88_backward_args& a, Work& w, const Sequence& z, float* S, float* dS) {
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kEntry;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    dS[place_in<Work>(e)] = load(a.d_s_final[z.index * kState + e]);
  }
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_two_states(a, w, S, z, first, steps, history);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_two_states(a, w, S, dS, z.row(a, first + s), history + s * kEntry);
    }
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    a.ds0[z.index * kState + e] = store(dS[place_in<Work>(e)]);
  }
}

}  // namespace
