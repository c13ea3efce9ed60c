// apo:variant    e88_backward/cuda_cp_async
// apo:target     cuda sm_80
// apo:technique  cp-async
// apo:technique  chunk-prefetch
// apo:parent     cuda_chunk_prefetch
// apo:idea       The inputs of the segment before are copied to a second buffer by cp.async while this segment is walked back.
// apo:predict    1.0x..1.06x over parent: hides one latency a segment, about 1 in 300 us of its phases.
// apo:requires   V % 2 == 0 && B*H <= 2147483647 && 16*N*(V+1)+260*N+268*V+512 <= 166912
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(4*N*(V+1)+65*N+67*V+128)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "input_chunks.cuh"
#include "norm_passes.cuh"
#include "row_copies.cuh"

namespace {

// The inputs of a segment, as they are in memory.
struct Chunk {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  alignas(16) bf16 v[kSegment][kColumns];
  alignas(16) bf16 g[kSegment][kColumns];
  alignas(16) bf16 d_output[kSegment][kColumns];
  alignas(16) bf16 y[kSegment][kColumns];
  bf16 decay[kSegment];
};

struct Work {
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  Chunk chunks[2];
  float dk[kRows];
  float delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

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

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * kState;
  load_last(a, w, z);
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
      reverse_chunk_step(a, w, in, z.row(a, first + s), s, history + s * kState);
    }
  }
  store_first(a, w, z);
}
