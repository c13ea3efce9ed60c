// variants/e88_backward/chunked_steps.cuh - the walk of cuda_simple with CHUNK_PREFETCH: the inputs of CHUNK steps are
// loaded into shared memory together, with one latency instead of CHUNK; only states are cached.
#pragma once
#include "e88_sizes.cuh"
#include "row_copies.cuh"
#include "words.cuh"

namespace {

// CP_ASYNC: the inputs of the segment before are copied to a second buffer, as they are in memory, while this segment
// is walked back.
#if CP_ASYNC
using ChunkValue = bf16;

struct Chunk {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  alignas(16) bf16 v[kSegment][kColumns];
  alignas(16) bf16 g[kSegment][kColumns];
  alignas(16) bf16 d_output[kSegment][kColumns];
  alignas(16) bf16 y[kSegment][kColumns];
  bf16 decay[kSegment];
};
#else
using ChunkValue = float;
constexpr int kChunk = CHUNK;  // steps whose inputs are loaded together

// The inputs of some steps of a segment, as fp32.
struct Chunk {
  float k[kChunk][kRows], q[kChunk][kRows];
  float v[kChunk][kColumns], g[kChunk][kColumns], d_output[kChunk][kColumns], y[kChunk][kColumns];
  float decay[kChunk];
};
#endif

}  // namespace

#include "phases.cuh"

namespace {

struct ChunkStep {
  const float *k, *q;
  const ChunkValue* v;
};

__device__ ChunkStep step_of(const Chunk& in, int s) {
  return {in.k[s], in.q[s], in.v[s]};
}

// Step s of the chunk: S_{t-1} goes to the cache, and S becomes S_t.
__device__ void replay_chunk_step(Work& w, const Chunk& in, int s, Entry entry) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    entry[e] = store(w.S[place(e)]);
  }
  const ChunkStep step = step_of(in, s);
  retrieve(w.S, w, step);
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanh_of_state(load(in.decay[s]) * S + step.k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
__device__ float chunk_gate_gradient(const e88_backward_args& a, const Chunk& in, int s, int j, long long at) {
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

// Turns dL/dS_t into dL/dS_{t-1} and writes the gradients of the step, which is the s-th of the chunk.
__device__ void reverse_chunk_step(const e88_backward_args& a, Work& w, States& z, const Chunk& in, long long row,
                                   int s, Entry entry) {
  const ChunkStep step = step_of(in, s);
  const float decay = load(in.decay[s]);
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.dy[j] = chunk_gate_gradient(a, in, s, j, row * kColumns + j);
  }
  __syncthreads();
  reverse_phases(a, z, w, step, row, decay);
  __syncthreads();
  finish_states(z);
}

#if CP_ASYNC
__device__ void start_chunk(const e88_backward_args& a, Chunk& in, long long row, int steps) {
  copy_rows<kRows>(floats(a.unit_k) + row * kRows, a.H * kRows, in.k, steps);
  copy_rows<kRows>(floats(a.unit_q) + row * kRows, a.H * kRows, in.q, steps);
  copy_rows<kColumns>(a.v + row * kColumns, a.H * kColumns, in.v, steps);
  copy_rows<kColumns>(a.d_output + row * kColumns, a.H * kColumns, in.d_output, steps);
  if (kGATE) {
    copy_rows<kColumns>(a.g + row * kColumns, a.H * kColumns, in.g, steps);
    copy_rows<kColumns>(a.y_cache + row * kColumns, a.H * kColumns, in.y, steps);
  }
  __pipeline_commit();
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    in.decay[s] = a.decay[row + s * a.H];  // two bytes: too small for an asynchronous copy
  }
}

__device__ void replay_segment(const e88_backward_args& a, Work& w, const Sequence& z, long long first, int steps,
                               const Chunk& in, bf16* history) {
  load_checkpoint(a, w, z, first);
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    replay_chunk_step(w, in, s, history + s * kState);
  }
}

__device__ void walk_back(const e88_backward_args& a, Work& w) {
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kState;
  States states = {w.S, w.dS, w.next};
  load_last(a, states, z);
  const long long last = last_segment(a);
  start_chunk(a, w.chunks[last / kSegment % 2], z.row(a, last), a.T - last);
  for (long long first = last; first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    const Chunk& in = w.chunks[first / kSegment % 2];
    replay_segment(a, w, z, first, steps, in, history);
    if (first > 0) {
      start_chunk(a, w.chunks[1 - first / kSegment % 2], z.row(a, first - kSegment), kSegment);
    }
    for (int s = steps - 1; s >= 0; --s) {
      reverse_chunk_step(a, w, states, in, z.row(a, first + s), s, history + s * kState);
    }
  }
  store_first(a, states, z);
}
#else
// All inputs of `steps` steps from `row` on.
__device__ void load_chunk(const e88_backward_args& a, Chunk& in, long long row, int steps) {
  for (int e = threadIdx.x; e < steps * kRows; e += blockDim.x) {
    const int s = e / kRows, i = e % kRows;
    const long long at = (row + s * a.H) * kRows + i;
    in.k[s][i] = floats(a.unit_k)[at];
    in.q[s][i] = floats(a.unit_q)[at];
  }
  for (int e = threadIdx.x; e < steps * kColumns; e += blockDim.x) {
    const int s = e / kColumns, j = e % kColumns;
    const long long at = (row + s * a.H) * kColumns + j;
    in.v[s][j] = load(a.v[at]);
    in.d_output[s][j] = load(a.d_output[at]);
    if (kGATE) {
      in.g[s][j] = load(a.g[at]);
      in.y[s][j] = load(a.y_cache[at]);
    }
  }
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    in.decay[s] = load(a.decay[row + s * a.H]);
  }
}

__device__ void walk_back(const e88_backward_args& a, Work& w) {
  const Sequence z(a);
  Chunk& in = w.chunks[0];
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kState;
  States states = {w.S, w.dS, w.next};
  load_last(a, states, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    load_checkpoint(a, w, z, first);
    for (int s = 0; s < steps; ++s) {
      if (s % kChunk == 0) {
        load_chunk(a, in, z.row(a, first + s), min(kChunk, steps - s));
        __syncthreads();
      }
      replay_chunk_step(w, in, s % kChunk, history + s * kState);
    }
    for (int s = steps - 1; s >= 0; --s) {
      const long long row = z.row(a, first + s);
      // The last chunk of the segment is there from the replay.
      if (s % kChunk == kChunk - 1 && s != steps - 1) {
        load_chunk(a, in, row - (kChunk - 1) * a.H, kChunk);
        __syncthreads();
      }
      reverse_chunk_step(a, w, states, in, row, s % kChunk, history + s * kState);
    }
  }
  store_first(a, states, z);
}
#endif

}  // namespace
