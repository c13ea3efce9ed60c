// variants/e88_backward/phases.cuh - the phases of cuda_simple, a block a sequence, with what its toggles change in
// them. `in` has k, q and v of a step: the Work itself, or rows of a chunk of inputs.
#pragma once
#include "e88_sums.cuh"
#include "segment_cache.cuh"
#include "sequence.cuh"

namespace {

// What the block of one sequence keeps in shared memory.
struct Work {
#if DOUBLE_BUFFERED_CACHE
  union {
    float S[kRows * kStride];  // of the replay
    float buffers[2][kRows * kStride];
  };
#else
  float S[kRows * kStride];
#endif
  float dS[kRows * kStride], next[kRows * kStride];
#if !REDUCED_SYNC
  float slope[kRows * kStride];
#endif
#if CHUNK_PREFETCH
  Chunk chunks[1 + CP_ASYNC];
#else
  float k[kRows], q[kRows];
#endif
#if FUSED_L2_NORM || !(FUSED_DK || REDUCED_SYNC)
  float dk[kRows];
#endif
#if FUSED_L2_NORM
  float dq[kRows];
#if !RAW_K_CACHE
  float unit_k[kRows];  // k^ before the cache rounded it
#endif
  float k_factor, q_factor;
#endif
#if !CHUNK_PREFETCH
  float v[kColumns];
#endif
  float delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];  // a warp each
};

// S_{t-1}, dL/dS_t, and where S_t goes.
struct States {
  float *S, *dS, *next;
};

// A barrier between two phases. REDUCED_SYNC does without the `optional` ones: phases that touch different arrays share
// an interval, and the new dS goes to the dead S_t, so that no barrier is needed between its readers and its writers.
inline __device__ void barrier() {
  __syncthreads();
}
inline __device__ void optional_barrier() {
#if !REDUCED_SYNC
  __syncthreads();
#endif
}

// S of the segment's beginning
inline __device__ void load_checkpoint(const e88_backward_args& a, Work& w, const Sequence& z, long long first) {
  const bf16* checkpoint = z.checkpoint(a, first);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(checkpoint[e]);
  }
}

// delta = v - S_{t-1}^T k^
template <class In>
__device__ void retrieve(const float* S, Work& w, const In& in) {
  column_dots(S, in.k, [&](int j, auto sum) { w.delta[j] = load(in.v[j]) - sum(j); });
}

// S_t and its slope, 1 - S_t^2
template <class In>
__device__ void step_again(const States& z, Work& w, const In& in, float decay) {
#if REDUCED_SYNC
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float S = tanh_of_state(decay * z.S[place(e)] + in.k[e / kColumns] * w.delta[e % kColumns]);
    z.next[place(e)] = S;
    z.dS[place(e)] = (z.dS[place(e)] + in.q[e / kColumns] * w.dy[e % kColumns]) * (1.0f - S * S);
  }
#else
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float next = tanh_of_state(decay * z.S[place(e)] + in.k[e / kColumns] * w.delta[e % kColumns]);
    z.next[place(e)] = next;
    w.slope[place(e)] = 1.0f - next * next;
  }
#endif
}

// dS takes what comes from y, and goes back through tanh.
template <class In>
__device__ void back_through_tanh(const States& z, Work& w, const In& in) {
#if !REDUCED_SYNC
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = z.dS[place(e)];
    dS = (dS + in.q[e / kColumns] * w.dy[e % kColumns]) * w.slope[place(e)];
  }
#endif
}

// Where the gradients of k^ and q^ wait for the chain rule of the norm.
inline __device__ void put_query_gradient(const e88_backward_args& a, Work& w, long long row, int i, float dq) {
#if FUSED_L2_NORM
  w.dq[i] = dq;
#else
  floats(a.gradient_q)[row * kRows + i] = dq;
#endif
}
inline __device__ void put_key_gradient(const e88_backward_args& a, Work& w, long long row, int i, float dk) {
#if FUSED_L2_NORM
  w.dk[i] = dk;
#else
  floats(a.gradient_k)[row * kRows + i] = dk;
#endif
}

inline __device__ void store_query_gradient(const e88_backward_args& a, const States& z, Work& w, long long row) {
  row_dots(z.next, w.dy, [&](int i, auto sum) { put_query_gradient(a, w, row, i, sum(i)); });
}

// dv, which is dL/ddelta
template <class In>
__device__ void store_value_gradient(const e88_backward_args& a, const States& z, Work& w, const In& in,
                                     long long row) {
  column_dots(z.dS, in.k, [&](int j, auto sum) {
    w.d_delta[j] = sum(j);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  });
}

// dk^ takes what comes through k^ delta^T, and behind a barrier what comes through delta. FUSED_DK sums both in one
// loop once d_delta is there, which saves a phase and its barrier.
inline __device__ void sum_key_gradient(const States& z, Work& w) {
#if !FUSED_DK && !REDUCED_SYNC
  row_dots(z.dS, w.delta, [&](int i, auto sum) { w.dk[i] = sum(i); });
  barrier();
#endif
}
inline __device__ void store_key_gradient(const e88_backward_args& a, const States& z, Work& w, long long row) {
  const auto write = [&](int i, float dk) { put_key_gradient(a, w, row, i, dk); };
#if FUSED_DK
  sum_all<kRows, kColumns>(
      [&](float& sum, int i, int j) {
        sum += z.dS[i * kStride + j] * w.delta[j];
        sum -= z.S[i * kStride + j] * w.d_delta[j];
      },
      [&](int i, auto sum) { write(i, sum(i)); });
#elif REDUCED_SYNC
  row_dots(z.dS, w.delta, [&](int i, auto sum) { write(i, sum(i) - row_dot(z.S, i, w.d_delta)); });
#elif FUSED_L2_NORM
  row_dots(z.S, w.d_delta, [&](int i, auto sum) { w.dk[i] -= sum(i); });
#else
  row_dots(z.S, w.d_delta, [&](int i, auto sum) { write(i, w.dk[i] - sum(i)); });
#endif
}

// The parts of ddecay, a warp each.
inline __device__ void sum_decay_gradient(const States& z, Work& w) {
  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += z.dS[place(e)] * z.S[place(e)];
  }
  d_decay = sum_of_lanes(d_decay);
  if (threadIdx.x % 32 == 0) {
    w.d_decay[threadIdx.x / 32] = d_decay;
  }
}

// dL/dS_{t-1} from what came back through tanh.
template <class In>
__device__ void back_to_state(States& z, const Work& w, const In& in, float decay) {
#if REDUCED_SYNC
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    z.next[place(e)] = decay * z.dS[place(e)] - in.k[e / kColumns] * w.d_delta[e % kColumns];
  }
#else
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = z.dS[place(e)];
    dS = decay * dS - in.k[e / kColumns] * w.d_delta[e % kColumns];
  }
#endif
}

// The phases of a reverse step once its inputs are there, but for the last barrier: turns dL/dS_t into dL/dS_{t-1} and
// writes the gradients.
template <class In>
__device__ void reverse_phases(const e88_backward_args& a, States& z, Work& w, const In& in, long long row,
                               float decay) {
  retrieve(z.S, w, in);
  barrier();
  step_again(z, w, in, decay);
  barrier();
  store_query_gradient(a, z, w, row);
  back_through_tanh(z, w, in);
  optional_barrier();
  store_value_gradient(a, z, w, in, row);
  optional_barrier();
  sum_key_gradient(z, w);
  sum_decay_gradient(z, w);
  barrier();
  store_decay_gradient(a, w, row);
  store_key_gradient(a, z, w, row);
  optional_barrier();
  back_to_state(z, w, in, decay);
}

// After the last barrier of a reverse step: where REDUCED_SYNC left the new dS it is taken from.
inline __device__ void finish_states(States& z) {
#if REDUCED_SYNC
  float* const finished = z.next;
  z.next = z.dS;
  z.dS = finished;
#endif
}

// dL/dS behind the last step and before the first
inline __device__ void load_last(const e88_backward_args& a, const States& z, const Sequence& sequence) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    z.dS[place(e)] = load(a.d_s_final[sequence.index * kState + e]);
  }
}
inline __device__ void store_first(const e88_backward_args& a, const States& z, const Sequence& sequence) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    a.ds0[sequence.index * kState + e] = store(z.dS[place(e)]);
  }
}

}  // namespace
