// apo:variant    e88_forward/cuda_chunk_prefetch
// apo:target     cuda sm_80
// apo:technique  chunk-prefetch
// apo:parent     cuda_simple
// apo:idea       The inputs of CHUNK steps are loaded into shared memory together, so that a step waits for no memory.
// apo:predict    1.3x..1.8x over parent: a memory latency of some 600 cycles of about 1700 goes from each step.
// apo:requires   B*H <= 2147483647 && 4*(N*(V+1)+CHUNK*(2*N+V+1)+V) <= SHARED_MAX
// apo:tune       CHUNK 16,8,4,32
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     forward grid=B*H block=256 shared=4*(N*(V+1)+CHUNK*(2*N+V+1)+V)
// apo:launch     gate grid=min(ceil_div(B*T*H*V,256),32*SMS) block=256
#include "e88_forward.args.h"
#include "input_chunks.cuh"

namespace {

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

extern "C" __global__ void gate(const e88_forward_args a) {
  gate_all(a);
}
