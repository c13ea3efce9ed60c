// variants/e88_backward/fused_norm.cuh - steps that normalise k and q as they load them and correct dk and dq in place.
// A variant defines for its struct Work what the cache has of k, and how k^ is loaded from it.
#pragma once
#include "phases.cuh"

namespace {

// By a warp: x^ and its factor into shared memory.
inline __device__ void share_unit(const bf16* x, float* unit, float* factor) {
  const float scale = normalise_row(x, unit);
  if (threadIdx.x % 32 == 0) {
    *factor = scale;
  }
}

// Leaves S_{t-1}, what cached_key says, v and a of each step of the segment in `history`.
template <class Work>
__device__ void replay_normed_segment(const e88_backward_args& a, Work& w, const Sequence& z, long long first,
                                      int steps, bf16* history) {
  load_checkpoint(a, w, z, first);
  for (int s = 0; s < steps; ++s) {
    const long long row = z.row(a, first + s);
    bf16* entry = history + s * Work::kEntry;
    const float decay = load(a.decay[row]);
    if (threadIdx.x < 32) {
      share_unit(a.k + row * kRows, w.k, &w.k_factor);
      for (int i = threadIdx.x; i < kRows; i += 32) {
        entry[kState + i] = cached_key(a, w, row, i);
      }
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

// As reverse_step, and the gradients of k and q from those of k^ and q^.
template <class Work>
__device__ void reverse_normed_step(const e88_backward_args& a, Work& w, long long row, const bf16* entry) {
  const float decay = load_step(a, w, row, entry);
  __syncthreads();
  reverse_phases(a, w, w, row, decay);
  if (threadIdx.x / 32 == 0) {
    chain_rule_row(unit_key(w), w.k_factor, w.dk, a.dk + row * kRows);
  } else if (threadIdx.x / 32 == 1) {
    chain_rule_row(w.q, w.q_factor, w.dq, a.dq + row * kRows);
  }
  __syncthreads();
}

template <class Work>
__device__ void backward_with_norm(const e88_backward_args& a, Work& w) {
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * Work::kEntry;
  load_last(a, w, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_normed_segment(a, w, z, first, steps, history);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_normed_step(a, w, z.row(a, first + s), history + s * Work::kEntry);
    }
  }
  store_first(a, w, z);
}

}  // namespace
