// variants/e88_backward/input_chunks.cuh - steps whose inputs lie in shared memory, a chunk of steps together; a struct
// Chunk has them, as fp32 or bf16. Only states are cached.
#pragma once
#include "phases.cuh"

namespace {

// Step s of the chunk: S_{t-1} goes to the cache, and S becomes S_t.
template <class Work, class Chunk>
__device__ void replay_chunk_step(Work& w, const Chunk& in, int s, bf16* entry) {
  const float* k = in.k[s];
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    entry[e] = store(w.S[place(e)]);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = load(in.v[s][j]) - column_dot(w.S, j, k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(load(in.decay[s]) * S + k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
template <class Chunk>
__device__ float gate_gradient(const e88_backward_args& a, const Chunk& in, int s, int j, long long at) {
  const float d_output = load(in.d_output[s][j]);
  if (!kGATE) {
    a.dg[at] = store(0.0f);
    return d_output;
  }
  const float g = load(in.g[s][j]);
  const float sigmoid = 1.0f / (1.0f + expf(-g));
  a.dg[at] = store(d_output * load(in.y[s][j]) * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  return d_output * g * sigmoid;
}

// Turns w.dS = dL/dS_t into dL/dS_{t-1} and writes the gradients of the step, which is the s-th of the chunk.
template <class Work, class Chunk>
__device__ void reverse_chunk_step(const e88_backward_args& a, Work& w, const Chunk& in, long long row, int s,
                                   const bf16* entry) {
  const float* const k = in.k[s];
  const float* const q = in.q[s];
  const float decay = load(in.decay[s]);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.dy[j] = gate_gradient(a, in, s, j, row * kColumns + j);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = load(in.v[s][j]) - column_dot(w.S, j, k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float next = tanhf(decay * w.S[place(e)] + k[e / kColumns] * w.delta[e % kColumns]);
    w.next[place(e)] = next;
    w.slope[place(e)] = 1.0f - next * next;
  }
  __syncthreads();
  store_query_gradient(a, w, row);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = (dS + q[e / kColumns] * w.dy[e % kColumns]) * w.slope[place(e)];
  }
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.d_delta[j] = column_dot(w.dS, j, k);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  }
  __syncthreads();
  sum_key_gradient(w);
  __syncthreads();
  sum_decay_gradient(w);
  __syncthreads();
  store_decay_gradient(a, w, row);
  store_key_gradient(a, w, row);
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = decay * dS - k[e / kColumns] * w.d_delta[e % kColumns];
  }
  __syncthreads();
}

}  // namespace
