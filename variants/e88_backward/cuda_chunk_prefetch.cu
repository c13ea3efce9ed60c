// apo:variant    e88_backward/cuda_chunk_prefetch
// apo:target     cuda sm_80
// apo:technique  chunk-prefetch
// apo:parent     cuda_simple
// apo:idea       The inputs of CHUNK steps are loaded into shared memory together, with one latency instead of CHUNK; only states are cached.
// apo:predict    1.15x..1.4x over parent: a load latency of some 600 cycles goes from each of the 32 steps of a segment.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+4*CHUNK*(2*N+4*V+1)+4*N+12*V+128 <= 166912
// apo:tune       CHUNK 16,8,4
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+CHUNK*(2*N+4*V+1)+N+3*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "input_chunks.cuh"
#include "norm_passes.cuh"

namespace {

constexpr int kChunk = CHUNK;  // steps whose inputs are loaded together

// The inputs of some steps of a segment, as fp32.
struct Chunk {
  float k[kChunk][kRows], q[kChunk][kRows];
  float v[kChunk][kColumns], g[kChunk][kColumns], d_output[kChunk][kColumns], y[kChunk][kColumns];
  float decay[kChunk];
};

struct Work {
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  Chunk in;
  float dk[kRows];
  float delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

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

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kState;
  load_last(a, w, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    load_checkpoint(a, w, z, first);
    for (int s = 0; s < steps; ++s) {
      if (s % kChunk == 0) {
        load_chunk(a, w.in, z.row(a, first + s), min(kChunk, steps - s));
        __syncthreads();
      }
      replay_chunk_step(w, w.in, s % kChunk, history + s * kState);
    }
    for (int s = steps - 1; s >= 0; --s) {
      const long long row = z.row(a, first + s);
      // The last chunk of the segment is there from the replay.
      if (s % kChunk == kChunk - 1 && s != steps - 1) {
        load_chunk(a, w.in, row - (kChunk - 1) * a.H, kChunk);
        __syncthreads();
      }
      reverse_chunk_step(a, w, w.in, row, s % kChunk, history + s * kState);
    }
  }
  store_first(a, w, z);
}
