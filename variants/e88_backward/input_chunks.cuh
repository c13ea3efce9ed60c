// variants/e88_backward/input_chunks.cuh - steps whose inputs lie in shared memory, a chunk of steps together; a struct
// Chunk has them, as fp32 or bf16. Only states are cached.
#pragma once
#include "phases.cuh"

namespace {

template <class Value>
struct ChunkStep {
  const float *k, *q;
  const Value* v;
};

template <class Chunk>
__device__ auto step_of(const Chunk& in, int s) {
  return ChunkStep{in.k[s], in.q[s], in.v[s]};
}

// Step s of the chunk: S_{t-1} goes to the cache, and S becomes S_t.
template <class Work, class Chunk>
__device__ void replay_chunk_step(Work& w, const Chunk& in, int s, bf16* entry) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    entry[e] = store(w.S[place(e)]);
  }
  const auto step = step_of(in, s);
  retrieve(w, step);
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(load(in.decay[s]) * S + step.k[e / kColumns] * w.delta[e % kColumns]);
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
  const auto step = step_of(in, s);
  const float decay = load(in.decay[s]);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.dy[j] = gate_gradient(a, in, s, j, row * kColumns + j);
  }
  __syncthreads();
  reverse_phases(a, w, step, row, decay);
  __syncthreads();
}

}  // namespace
