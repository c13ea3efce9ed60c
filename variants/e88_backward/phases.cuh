// variants/e88_backward/phases.cuh - the phases of cuda_simple, 256 threads a sequence, and the kernel that they make
// up. A variant takes what it leaves as it is. What it defines anew for a struct Work of its own is what the functions
// here call: they find it by its arguments. `in` has k, q and v of a step: the Work itself, or rows of a chunk of
// inputs.
#pragma once
#include "e88_state.cuh"

namespace {

// What the block of one sequence keeps in shared memory.
struct SimpleWork {
  static constexpr int kEntry = kState + kRows + kColumns + 1;  // cached per step: S_{t-1}, k^, v, a
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows], dk[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];  // a warp each
};

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

// S of the segment's beginning
template <class Work>
__device__ void load_checkpoint(const e88_backward_args& a, Work& w, const Sequence& z, long long first) {
  const bf16* checkpoint = z.checkpoint(a, first);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(checkpoint[e]);
  }
}

// delta = v - S_{t-1}^T k^
template <class Work, class In>
__device__ void retrieve(Work& w, const In& in) {
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = load(in.v[j]) - column_dot(w.S, j, in.k);
  }
}

// S = tanh(decay S + k^ delta^T)
template <class Work>
__device__ void advance(Work& w, float decay) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(decay * S + w.k[e / kColumns] * w.delta[e % kColumns]);
  }
}

// Leaves S_{t-1}, k^, v and a of each step of the segment in `history`.
template <class Args, class Work>
__device__ void replay_segment(const Args& a, Work& w, const Sequence& z, long long first, int steps, bf16* history) {
  load_checkpoint(a, w, z, first);
  for (int s = 0; s < steps; ++s) {
    const long long row = z.row(a, first + s);
    bf16* entry = history + s * Work::kEntry;
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
      entry[kState + kRows + kColumns] = a.decay[row];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      entry[e] = store(w.S[place(e)]);
    }
    retrieve(w, w);
    __syncthreads();
    advance(w, decay);
    __syncthreads();
  }
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

template <class Args, class Work>
__device__ void load_keys(const Args& a, Work& w, long long row, const bf16* entry) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
    w.q[i] = floats(a.unit_q)[row * kRows + i];
  }
}

// From the cache and the inputs: k^, q^, v and dy; returns the decay.
template <class Work>
__device__ float load_vectors(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  load_keys(a, w, row, entry);
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(entry[kState + kRows + j]);
    w.dy[j] = gate_gradient(a, row * kColumns + j);
  }
  return load(entry[kState + kRows + kColumns]);
}

// The same, and S_{t-1}.
template <class Work>
__device__ float load_step(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  return load_vectors(a, w, row, entry);
}

// S_t and its slope, 1 - S_t^2
template <class Work, class In>
__device__ void step_again(Work& w, const In& in, float decay) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float next = tanhf(decay * w.S[place(e)] + in.k[e / kColumns] * w.delta[e % kColumns]);
    w.next[place(e)] = next;
    w.slope[place(e)] = 1.0f - next * next;
  }
}

// A Work with dq keeps dq^ and dk^ until they are corrected.
template <class Args, class Work>
__device__ void store_query_gradient(const Args& a, Work& w, long long row) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    if constexpr (requires { w.dq; }) {
      w.dq[i] = row_dot(w.next, i, w.dy);
    } else {
      floats(a.gradient_q)[row * kRows + i] = row_dot(w.next, i, w.dy);
    }
  }
}

// dS takes what comes from y, and goes back through tanh.
template <class Work, class In>
__device__ void back_through_tanh(Work& w, const In& in) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = (dS + in.q[e / kColumns] * w.dy[e % kColumns]) * w.slope[place(e)];
  }
}

// dv, which is dL/ddelta
template <class Work, class In>
__device__ void store_value_gradient(const e88_backward_args& a, Work& w, const In& in, long long row) {
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.d_delta[j] = column_dot(w.dS, j, in.k);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  }
}

// dk^ takes what comes through k^ delta^T, and behind a barrier what comes through delta.
template <class Work>
__device__ void sum_key_gradient(Work& w) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.dk[i] = row_dot(w.dS, i, w.delta);
  }
}

template <class Args, class Work>
__device__ void store_key_gradient(const Args& a, Work& w, long long row) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    if constexpr (requires { w.dq; }) {
      w.dk[i] -= row_dot(w.S, i, w.d_delta);
    } else {
      floats(a.gradient_k)[row * kRows + i] = w.dk[i] - row_dot(w.S, i, w.d_delta);
    }
  }
}

// The parts of ddecay, a warp each; `store_decay_gradient` adds them up behind a barrier.
template <class Work>
__device__ void sum_decay_gradient(Work& w) {
  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += w.dS[place(e)] * w.S[place(e)];
  }
  d_decay = sum_of_lanes(d_decay);
  if (threadIdx.x % 32 == 0) {
    w.d_decay[threadIdx.x / 32] = d_decay;
  }
}

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

// dL/dS_{t-1} from what came back through tanh.
template <class Work, class In>
__device__ void back_to_state(Work& w, const In& in, float decay) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = decay * dS - in.k[e / kColumns] * w.d_delta[e % kColumns];
  }
}

// The phases of a reverse step once its inputs are there, but for the last barrier: turns w.dS = dL/dS_t into
// dL/dS_{t-1} and writes the gradients.
template <class Work, class In>
__device__ void reverse_phases(const e88_backward_args& a, Work& w, const In& in, long long row, float decay) {
  retrieve(w, in);
  __syncthreads();
  step_again(w, in, decay);
  __syncthreads();
  store_query_gradient(a, w, row);
  back_through_tanh(w, in);
  __syncthreads();
  store_value_gradient(a, w, in, row);
  __syncthreads();
  sum_key_gradient(w);
  __syncthreads();
  sum_decay_gradient(w);
  __syncthreads();
  store_decay_gradient(a, w, row);
  store_key_gradient(a, w, row);
  __syncthreads();
  back_to_state(w, in, decay);
}

template <class Work>
__device__ void reverse_step(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  const float decay = load_step(a, w, row, entry);
  __syncthreads();
  reverse_phases(a, w, w, row, decay);
  __syncthreads();
}

// dL/dS behind the last step and before the first
template <class Work>
__device__ void load_last(const e88_backward_args& a, Work& w, const Sequence& z) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.dS[place(e)] = load(a.d_s_final[z.index * kState + e]);
  }
}

template <class Work>
__device__ void store_first(const e88_backward_args& a, const Work& w, const Sequence& z) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    a.ds0[z.index * kState + e] = store(w.dS[place(e)]);
  }
}

// The kernel: the segments from the last to the first, each replayed and then walked back.
template <class Work>
__device__ void backward_by_phases(const e88_backward_args& a, Work& w) {
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * Work::kEntry;
  load_last(a, w, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_segment(a, w, z, first, steps, history);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(a, w, z.row(a, first + s), history + s * Work::kEntry);
    }
  }
  store_first(a, w, z);
}

}  // namespace
