// variants/e88_backward/cached_steps.cuh - the walk of cuda_simple: a segment is replayed into a cache of S_{t-1}, k^,
// v and a of each step, which the reverse steps read.
#pragma once
#include "phases.cuh"

namespace {

constexpr int kUsed = kState + kRows + kColumns + 1;
// PADDED_CACHE: each step starts on a boundary of 64 bytes, so that rows of the state are aligned.
constexpr int kEntry = PADDED_CACHE ? (kUsed + 31) / 32 * 32 : kUsed;

// FUSED_L2_NORM: k and q are normalised as they are loaded and dk, dq corrected before they are stored, so that four
// fp32 copies in memory and two kernels go. RAW_K_CACHE: the cache has k as it came and not k^; the reverse step
// normalises it again and does not read k a second time.
#if FUSED_L2_NORM
// By a warp: x^ and its factor into shared memory.
template <class Row>
__device__ void share_unit(Row x, float* unit, float* factor) {
  const float scale = normalise_row(x, unit);
  if (threadIdx.x % 32 == 0) {
    *factor = scale;
  }
}

__device__ void load_keys(const e88_backward_args& a, Work& w, long long row, Entry entry) {
#if RAW_K_CACHE
  const Entry k = entry + kState;
  float* unit_k = w.k;
#else
  const bf16* k = a.k + row * kRows;
  float* unit_k = w.unit_k;
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
  }
#endif
  if (threadIdx.x / 32 == 0) {
    share_unit(k, unit_k, &w.k_factor);
  } else if (threadIdx.x / 32 == 1) {
    share_unit(a.q + row * kRows, w.q, &w.q_factor);
  }
}

__device__ void chain_rule_step(const e88_backward_args& a, const Work& w, long long row) {
  if (REDUCED_SYNC) {
    __syncthreads();  // dk and dq are there
  }
#if RAW_K_CACHE
  const float* unit_k = w.k;
#else
  const float* unit_k = w.unit_k;
#endif
  if (threadIdx.x / 32 == 0) {
    chain_rule_row(unit_k, w.k_factor, w.dk, a.dk + row * kRows);
  } else if (threadIdx.x / 32 == 1) {
    chain_rule_row(w.q, w.q_factor, w.dq, a.dq + row * kRows);
  }
}
#else
__device__ void load_keys(const e88_backward_args& a, Work& w, long long row, Entry entry) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
    w.q[i] = floats(a.unit_q)[row * kRows + i];
  }
}

__device__ void chain_rule_step(const e88_backward_args&, const Work&, long long) {}
#endif

// Leaves S_{t-1}, k^, v and a of each step of the segment in `history`.
__device__ void replay_segment(const e88_backward_args& a, Work& w, const Sequence& z, long long first, int steps,
                               bf16* history) {
  load_checkpoint(a, w, z, first);
  for (int s = 0; s < steps; ++s) {
    const long long row = z.row(a, first + s);
    Entry entry = history + s * kEntry;
    const float decay = load(a.decay[row]);
#if FUSED_L2_NORM
    if (threadIdx.x < 32) {
      share_unit(a.k + row * kRows, w.k, &w.k_factor);
      for (int i = threadIdx.x; i < kRows; i += 32) {
#if RAW_K_CACHE
        entry[kState + i] = a.k[row * kRows + i];
#else
        entry[kState + i] = store(w.k[i]);
#endif
      }
    }
#else
    for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
      w.k[i] = floats(a.unit_k)[row * kRows + i];
      entry[kState + i] = store(w.k[i]);
    }
#endif
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
    retrieve(w.S, w, w);
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      float& S = w.S[place(e)];
      S = tanh_of_state(decay * S + w.k[e / kColumns] * w.delta[e % kColumns]);
    }
    __syncthreads();
  }
}

// From the cache and the inputs: k^, q^, v and dy; returns the decay.
__device__ float load_vectors(const e88_backward_args& a, Work& w, long long row, Entry entry) {
  load_keys(a, w, row, entry);
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(entry[kState + kRows + j]);
    w.dy[j] = gate_gradient(a, row * kColumns + j);
  }
  return load(entry[kState + kRows + kColumns]);
}

// DOUBLE_BUFFERED_CACHE: while a reverse step runs, the cached state of the step before is fetched to registers and put
// into a second buffer at its end.
#if DOUBLE_BUFFERED_CACHE
constexpr int kPart = (kState + kThreads - 1) / kThreads;  // of a state, on its way through a thread

__device__ void fetch(Entry entry, bf16 (&part)[kPart]) {
#pragma unroll
  for (int p = 0; p < kPart; ++p) {
    const int e = threadIdx.x + p * kThreads;
    part[p] = e < kState ? entry[e] : bf16();
  }
}

__device__ void deposit(const bf16 (&part)[kPart], float* S) {
#pragma unroll
  for (int p = 0; p < kPart; ++p) {
    const int e = threadIdx.x + p * kThreads;
    if (e < kState) {
      S[place(e)] = load(part[p]);
    }
  }
}

__device__ void begin_reverse(Work& w, bf16* history, int steps) {
  bf16 part[kPart];
  fetch(history + (steps - 1) * kEntry, part);
  deposit(part, w.buffers[(steps - 1) % 2]);
}

__device__ void reverse_step(const e88_backward_args& a, Work& w, States& z, int s, long long row, bf16* entry) {
  bf16 part[kPart];
  if (s > 0) {
    fetch(entry - kEntry, part);
  }
  z.S = w.buffers[s % 2];
  const float decay = load_vectors(a, w, row, entry);
  __syncthreads();
  reverse_phases(a, z, w, w, row, decay);
  chain_rule_step(a, w, row);
  if (s > 0) {
    deposit(part, w.buffers[1 - s % 2]);
  }
  __syncthreads();
  finish_states(z);
}
#else
__device__ void begin_reverse(Work&, bf16*, int) {}

__device__ void reverse_step(const e88_backward_args& a, Work& w, States& z, int, long long row, Entry entry) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  const float decay = load_vectors(a, w, row, entry);
  __syncthreads();
  reverse_phases(a, z, w, w, row, decay);
  chain_rule_step(a, w, row);
  __syncthreads();
  finish_states(z);
}
#endif

// The kernel: the segments from the last to the first, each replayed and then walked back.
__device__ void walk_back(const e88_backward_args& a, Work& w) {
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kEntry;
  States states = {w.S, w.dS, w.next};
  load_last(a, states, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_segment(a, w, z, first, steps, history);
    begin_reverse(w, history, steps);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(a, w, states, s, z.row(a, first + s), history + s * kEntry);
    }
  }
  store_first(a, states, z);
}

}  // namespace
