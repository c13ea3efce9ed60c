// apo:variant    e88_forward/cuda_cp_async
// apo:target     cuda sm_80
// apo:technique  cp-async
// apo:technique  chunk-prefetch
// apo:parent     cuda_chunk_prefetch
// apo:idea       While the steps of a chunk run, cp.async copies the next chunk into a second buffer.
// apo:predict    1.0x..1.08x over parent: one latency in 16 steps is hidden.
// apo:requires   V % 2 == 0 && B*H <= 2147483647
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     forward grid=B*H block=256 shared=4*(N*(V+1)+64*N+17*V+64)
// apo:launch     gate grid=min(ceil_div(B*T*H*V,256),32*SMS) block=256
#include "e88_forward.args.h"
#include "input_chunks.cuh"
#include "row_copies.cuh"

namespace {

// The inputs of 16 steps, as they are in memory.
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

// The inputs of `steps` steps from `row` on, copied behind the thread's back.
__device__ void start_chunk(const e88_forward_args& a, Chunk& in, long long row, int steps) {
  copy_rows<kRows>(static_cast<const float*>(a.unit_k) + row * kRows, a.H * kRows, in.k, steps);
  copy_rows<kRows>(static_cast<const float*>(a.unit_q) + row * kRows, a.H * kRows, in.q, steps);
  copy_rows<kColumns>(a.v + row * kColumns, a.H * kColumns, in.v, steps);
  __pipeline_commit();
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    in.decay[s] = a.decay[row + s * a.H];  // two bytes: too small for an asynchronous copy
  }
}

}  // namespace

extern "C" __global__ void normalise(const e88_forward_args a) {
  normalise_all(a);
}

extern "C" __global__ void __launch_bounds__(256, 6) forward(const e88_forward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
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

extern "C" __global__ void gate(const e88_forward_args a) {
  gate_all(a);
}
