// variants/e88_forward/input_chunks.cuh - a step whose inputs lie in shared memory, a chunk of steps together; `in` has
// them, as fp32 or bf16.
#pragma once
#include "phases.cuh"

namespace {

// Step s of the chunk; `row` is that of the step in [B,T,H].
template <class Work, class Chunk>
__device__ void step(const e88_forward_args& a, Work& w, const Chunk& in, long long row, int s) {
  const float *k = in.k[s], *q = in.q[s];
  const float decay = load(in.decay[s]);
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = load(in.v[s][j]) - column_dot(w.S, j, k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(decay * S + k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    const float y = column_dot(w.S, j, q);
    store_output(a, w, row * kColumns + j, y);
  }
  __syncthreads();
}

}  // namespace
