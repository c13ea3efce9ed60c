// variants/e88_forward/chunked_steps.cuh - the walk of cuda_simple with CHUNK_PREFETCH: the inputs of CHUNK steps are
// loaded into shared memory together, so that a step waits for no memory.
#pragma once
#include "phases.cuh"
#include "row_copies.cuh"

namespace {

// CP_ASYNC: while the steps of a chunk run, the next chunk is copied into a second buffer as it is in memory.
#if CP_ASYNC
using ChunkValue = bf16;

struct Chunk {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  alignas(16) bf16 v[kSegment][kColumns];
  bf16 decay[kSegment];
};

struct Work {
  Chunk chunks[2];
  float S[kRows * kStride];
  float delta[kColumns];
};
#else
using ChunkValue = float;
constexpr int kChunk = CHUNK;  // steps whose inputs are loaded together

struct Chunk {
  float k[kChunk][kRows], q[kChunk][kRows];
  float v[kChunk][kColumns], decay[kChunk];
};

struct Work {
  float S[kRows * kStride];
  Chunk in;
  float delta[kColumns];
};
#endif

struct ChunkStep {
  const float *k, *q;
  const ChunkValue* v;
};

// Step s of the chunk.
__device__ void step(const e88_forward_args& a, Work& w, const Chunk& in, long long row, int s) {
  const ChunkStep step = {in.k[s], in.q[s], in.v[s]};
  advance(a, w, step, load(in.decay[s]), row);
}

#if CP_ASYNC
__device__ void start_chunk(const e88_forward_args& a, Chunk& in, long long row, int steps) {
  copy_rows<kRows>(static_cast<const float*>(a.unit_k) + row * kRows, a.H * kRows, in.k, steps);
  copy_rows<kRows>(static_cast<const float*>(a.unit_q) + row * kRows, a.H * kRows, in.q, steps);
  copy_rows<kColumns>(a.v + row * kColumns, a.H * kColumns, in.v, steps);
  __pipeline_commit();
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    in.decay[s] = a.decay[row + s * a.H];  // two bytes: too small for an asynchronous copy
  }
}

__device__ void walk(const e88_forward_args& a, Work& w) {
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  load_first(a, w, sequence);
  __syncthreads();
  start_chunk(a, w.chunks[0], b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T));
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const long long row = (b * a.T + first) * a.H + h;
    store_state(w, a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kState);
    __pipeline_wait_prior(0);
    __syncthreads();
    const Chunk& in = w.chunks[first / kSegment % 2];
    if (first + kSegment < a.T) {
      const int ahead = min(static_cast<long long>(kSegment), a.T - first - kSegment);
      start_chunk(a, w.chunks[1 - first / kSegment % 2], row + kSegment * a.H, ahead);
    }
    for (int s = 0; s < steps; ++s) {
      step(a, w, in, row + s * a.H, s);
    }
  }
  store_state(w, a.s_final + sequence * kState);
}
#else
// The inputs of `steps` steps from `row` on.
__device__ void load_chunk(const e88_forward_args& a, Chunk& in, long long row, int steps) {
  for (int e = threadIdx.x; e < steps * kRows; e += blockDim.x) {
    const int s = e / kRows, i = e % kRows;
    in.k[s][i] = static_cast<const float*>(a.unit_k)[(row + s * a.H) * kRows + i];
    in.q[s][i] = static_cast<const float*>(a.unit_q)[(row + s * a.H) * kRows + i];
  }
  for (int e = threadIdx.x; e < steps * kColumns; e += blockDim.x) {
    in.v[e / kColumns][e % kColumns] = load(a.v[(row + e / kColumns * a.H) * kColumns + e % kColumns]);
  }
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    in.decay[s] = load(a.decay[row + s * a.H]);
  }
}

__device__ void walk(const e88_forward_args& a, Work& w) {
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  load_first(a, w, sequence);
  __syncthreads();
  for (long long t = 0; t < a.T; ++t) {
    const long long row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store_state(w, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kState);
    }
    if (t % kChunk == 0) {
      load_chunk(a, w.in, row, min(static_cast<long long>(kChunk), a.T - t));
    }
    if (t % kSegment == 0 || t % kChunk == 0) {
      __syncthreads();
    }
    step(a, w, w.in, row, t % kChunk);
  }
  store_state(w, a.s_final + sequence * kState);
}
#endif

}  // namespace
