// apo:variant    e88_backward/cuda_double_buffered_cache
// apo:target     cuda sm_80
// apo:technique  double-buffered-cache
// apo:parent     cuda_simple
// apo:idea       While a reverse step runs, the cached state of the step before is fetched to registers and put into a second buffer at its end.
// apo:predict    1.05x..1.2x over parent: hides the one L2 latency of a reverse step behind its ten phases.
// apo:requires   B*H <= 2147483647 && 20*N*(V+1)+12*N+16*V+128 <= 166912
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(5*N*(V+1)+3*N+4*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "phases.cuh"

namespace {

constexpr int kThreads = 256, kPart = (kState + kThreads - 1) / kThreads;  // of a state, on its way through a thread

struct Work {
  static constexpr int kEntry = SimpleWork::kEntry;
  union {
    float S[kRows * kStride];  // of the replay
    float buffers[2][kRows * kStride];
  };
  float dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows], dk[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

__device__ void fetch(const bf16* entry, bf16 (&part)[kPart]) {
#pragma unroll
  for (int p = 0; p < kPart; ++p) {
    const int e = threadIdx.x + p * kThreads;
    part[p] = e < kState ? entry[e] : bf16();
  }
}

__device__ void deposit(const bf16 (&part)[kPart], float* S) {
#pragma unroll
  for (int p = 0; p < kPart; ++p) {
    const int e = threadIdx.x + p * kThreads;
    if (e < kState) {
      S[place(e)] = load(part[p]);
    }
  }
}

// Turns w.dS = dL/dS_t into dL/dS_{t-1} and writes the gradients of the step. S holds S_{t-1}; the state of the step
// before, in entry - kEntry, is fetched meanwhile into `ahead` unless this is the segment's first step.
__device__ void reverse_step(const e88_backward_args& a, Work& w, const float* S, float* ahead, bool is_first,
                             long long row, const bf16* entry) {
  bf16 part[kPart];
  if (!is_first) {
    fetch(entry - Work::kEntry, part);
  }
  const float decay = load_vectors(a, w, row, entry);
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = w.v[j] - column_dot(S, j, w.k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float next = tanhf(decay * S[place(e)] + w.k[e / kColumns] * w.delta[e % kColumns]);
    w.next[place(e)] = next;
    w.slope[place(e)] = 1.0f - next * next;
  }
  __syncthreads();
  store_query_gradient(a, w, row);
  back_through_tanh(w, w);
  __syncthreads();
  store_value_gradient(a, w, w, row);
  __syncthreads();
  sum_key_gradient(w);
  __syncthreads();
  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += w.dS[place(e)] * S[place(e)];
  }
  d_decay = sum_of_lanes(d_decay);
  if (threadIdx.x % 32 == 0) {
    w.d_decay[threadIdx.x / 32] = d_decay;
  }
  __syncthreads();
  store_decay_gradient(a, w, row);
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    floats(a.gradient_k)[row * kRows + i] = w.dk[i] - row_dot(S, i, w.d_delta);
  }
  __syncthreads();
  back_to_state(w, w, decay);
  if (!is_first) {
    deposit(part, ahead);
  }
  __syncthreads();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 4) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * Work::kEntry;
  load_last(a, w, z);
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_segment(a, w, z, first, steps, history);
    bf16 part[kPart];
    fetch(history + (steps - 1) * Work::kEntry, part);
    deposit(part, w.buffers[(steps - 1) % 2]);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(a, w, w.buffers[s % 2], w.buffers[1 - s % 2], s == 0, z.row(a, first + s),
                   history + s * Work::kEntry);
    }
  }
  store_first(a, w, z);
}
