// apo:variant    e88_backward/cuda_reduced_sync
// apo:target     cuda sm_80
// apo:technique  reduced-sync
// apo:parent     cuda_simple
// apo:idea       Phases that touch different arrays share a barrier interval, and the new dS goes to the dead S_t: 5 barriers a reverse step, not 9.
// apo:predict    1.15x..1.4x over parent: four of nine barriers go and the serial sums overlap.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+12*N+16*V+128 <= 166912
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=256 shared=4*(3*N*(V+1)+2*N+4*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "phases.cuh"

namespace {

struct Work {
  static constexpr int kEntry = SimpleWork::kEntry;
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride];
  float k[kRows], q[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];
};

// Turns dS = dL/dS_t into dL/dS_{t-1} and writes the gradients of the step. The new one is written over S_t, which is
// dead by then, so that no barrier is needed between its readers and its writers; the two arrays change places.
__device__ void reverse_step(const e88_backward_args& a, Work& w, float*& dS, float*& next, long long row,
                             const bf16* entry) {
  const float decay = load_step(a, w, row, entry);
  __syncthreads();
  retrieve(w, w);
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float S = tanhf(decay * w.S[place(e)] + w.k[e / kColumns] * w.delta[e % kColumns]);
    next[place(e)] = S;
    dS[place(e)] = (dS[place(e)] + w.q[e / kColumns] * w.dy[e % kColumns]) * (1.0f - S * S);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    floats(a.gradient_q)[row * kRows + i] = row_dot(next, i, w.dy);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.d_delta[j] = column_dot(dS, j, w.k);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  }
  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += dS[place(e)] * w.S[place(e)];
  }
  d_decay = sum_of_lanes(d_decay);
  if (threadIdx.x % 32 == 0) {
    w.d_decay[threadIdx.x / 32] = d_decay;
  }
  __syncthreads();
  store_decay_gradient(a, w, row);
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    floats(a.gradient_k)[row * kRows + i] = row_dot(dS, i, w.delta) - row_dot(w.S, i, w.d_delta);
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    next[place(e)] = decay * dS[place(e)] - w.k[e / kColumns] * w.d_delta[e % kColumns];
  }
  __syncthreads();
  float* const finished = next;
  next = dS;
  dS = finished;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Sequence z(a);
  bf16* history = static_cast<bf16*>(a.history) + z.index * kSegment * Work::kEntry;
  float *dS = w.dS, *next = w.next;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    dS[place(e)] = load(a.d_s_final[z.index * kState + e]);
  }
  for (long long first = last_segment(a); first >= 0; first -= kSegment) {
    const int steps = count_steps(a, first);
    replay_segment(a, w, z, first, steps, history);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(a, w, dS, next, z.row(a, first + s), history + s * Work::kEntry);
    }
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    a.ds0[z.index * kState + e] = store(dS[place(e)]);
  }
}
