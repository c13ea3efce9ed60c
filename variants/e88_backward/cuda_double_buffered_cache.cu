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

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kStride = kColumns | 1;                  // of the state in shared memory: odd, for the banks
constexpr int kEntry = kState + kRows + kColumns + 1;  // cached per step: S_{t-1}, k^, v, a

// What the block of one sequence keeps in shared memory.
struct Work {
  float buffers[2][kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  float k[kRows], q[kRows], dk[kRows];
  float v[kColumns], delta[kColumns], dy[kColumns], d_delta[kColumns];
  float d_decay[32];  // a warp each
};

__device__ float load(bf16 value) {
  return __bfloat162float(value);
}

__device__ bf16 store(float value) {
  return __float2bfloat16(value);
}

// Where element e of a state, in row-major order, stands in shared memory.
__device__ int place(int e) {
  return e / kColumns * kStride + e % kColumns;
}

__device__ float sum_of_warp(float x) {
  for (int step = 16; step > 0; step /= 2) {
    x += __shfl_xor_sync(0xffffffffu, x, step);
  }
  return x;
}

__device__ float inverse_norm(const bf16* x) {
  float squares = 0;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    squares += load(x[i]) * load(x[i]);
  }
  return kNORM ? rsqrtf(sum_of_warp(squares) + 1e-12f) : 1.0f;
}

// The L2 norm as a pass of its own over memory, as the separate operation of the original; a warp a row.
__device__ void normalise_row(const bf16* x, float* unit) {
  const float scale = inverse_norm(x);
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    unit[i] = load(x[i]) * scale;
  }
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon): exact, because x^ carries the same epsilon.
__device__ void chain_rule_row(const bf16* x, const float* unit, const float* gradient, bf16* dx) {
  const float scale = inverse_norm(x);
  float along = 0;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    along += unit[i] * gradient[i];
  }
  along = sum_of_warp(along);
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    dx[i] = store(kNORM ? (gradient[i] - unit[i] * along) * scale : gradient[i]);
  }
}

// sum_i S[i][j] x[i]
__device__ float column_dot(const float* S, int j, const float* x) {
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < kRows; ++i) {
    sum += S[i * kStride + j] * x[i];
  }
  return sum;
}

// sum_j S[i][j] x[j]
__device__ float row_dot(const float* S, int i, const float* x) {
  float sum = 0;
#pragma unroll 8
  for (int j = 0; j < kColumns; ++j) {
    sum += S[i * kStride + j] * x[j];
  }
  return sum;
}

// Leaves S_{t-1}, k^, v and a of each step of the segment in `history`.
__device__ void replay_segment(const e88_backward_args& a, Work& w, long long b, long long h, long long first,
                               int steps, bf16* history) {
  const bf16* checkpoint = a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.buffers[0][place(e)] = load(checkpoint[e]);
  }
  for (int s = 0; s < steps; ++s) {
    const long long row = (b * a.T + first + s) * a.H + h;
    bf16* entry = history + s * kEntry;
    const float decay = load(a.decay[row]);
    for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
      w.k[i] = static_cast<const float*>(a.unit_k)[row * kRows + i];
      entry[kState + i] = store(w.k[i]);
    }
    for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
      w.v[j] = load(a.v[row * kColumns + j]);
      entry[kState + kRows + j] = a.v[row * kColumns + j];
    }
    if (threadIdx.x == 0) {
      entry[kState + kRows + kColumns] = a.decay[row];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      entry[e] = store(w.buffers[0][place(e)]);
    }
    for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
      w.delta[j] = w.v[j] - column_dot(w.buffers[0], j, w.k);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      float& S = w.buffers[0][place(e)];
      S = tanhf(decay * S + w.k[e / kColumns] * w.delta[e % kColumns]);
    }
    __syncthreads();
  }
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
__device__ float gate_gradient(const e88_backward_args& a, long long at) {
  const float d_output = load(a.d_output[at]);
  if (!kGATE) {
    a.dg[at] = store(0.0f);
    return d_output;
  }
  const float g = load(a.g[at]);
  const float sigmoid = 1.0f / (1.0f + expf(-g));
  a.dg[at] = store(d_output * load(a.y_cache[at]) * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  return d_output * g * sigmoid;
}

// A thread's part of a cached state, on its way from memory.
constexpr int kThreads = 256, kPart = (kState + kThreads - 1) / kThreads;

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
    fetch(entry - kEntry, part);
  }
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.k[i] = load(entry[kState + i]);
    w.q[i] = static_cast<const float*>(a.unit_q)[row * kRows + i];
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.v[j] = load(entry[kState + kRows + j]);
    w.dy[j] = gate_gradient(a, row * kColumns + j);
  }
  const float decay = load(entry[kState + kRows + kColumns]);
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

  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    static_cast<float*>(a.gradient_q)[row * kRows + i] = row_dot(w.next, i, w.dy);
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = (dS + w.q[e / kColumns] * w.dy[e % kColumns]) * w.slope[place(e)];
  }
  __syncthreads();

  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.d_delta[j] = column_dot(w.dS, j, w.k);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  }
  __syncthreads();

  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.dk[i] = row_dot(w.dS, i, w.delta);
  }
  __syncthreads();

  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += w.dS[place(e)] * S[place(e)];
  }
  d_decay = sum_of_warp(d_decay);
  if (threadIdx.x % 32 == 0) {
    w.d_decay[threadIdx.x / 32] = d_decay;
  }
  __syncthreads();

  if (threadIdx.x == 0) {
    float sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) {
      sum += w.d_decay[warp];
    }
    a.ddecay[row] = store(sum);
  }
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    static_cast<float*>(a.gradient_k)[row * kRows + i] = w.dk[i] - row_dot(S, i, w.d_delta);
  }
  __syncthreads();

  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = decay * dS - w.k[e / kColumns] * w.d_delta[e % kColumns];
  }
  if (!is_first) {
    deposit(part, ahead);
  }
  __syncthreads();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 4) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const long long b = blockIdx.x / a.H, h = blockIdx.x % a.H;
  const long long sequence = blockIdx.x;
  bf16* history = static_cast<bf16*>(a.history) + sequence * kSegment * kEntry;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.dS[place(e)] = load(a.d_s_final[sequence * kState + e]);
  }
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    replay_segment(a, w, b, h, first, steps, history);
    bf16 part[kPart];
    fetch(history + (steps - 1) * kEntry, part);
    deposit(part, w.buffers[(steps - 1) % 2]);
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(a, w, w.buffers[s % 2], w.buffers[1 - s % 2], s == 0, (b * a.T + first + s) * a.H + h,
                   history + s * kEntry);
    }
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    a.ds0[sequence * kState + e] = store(w.dS[place(e)]);
  }
}

extern "C" __global__ void normalise(const e88_backward_args a) {
  const long long warp = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
  for (long long row = warp; row < a.B * a.T * a.H; row += gridDim.x * static_cast<long long>(blockDim.x) / 32) {
    normalise_row(a.k + row * kRows, static_cast<float*>(a.unit_k) + row * kRows);
    normalise_row(a.q + row * kRows, static_cast<float*>(a.unit_q) + row * kRows);
  }
}

extern "C" __global__ void chain_rule(const e88_backward_args a) {
  const long long warp = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
  for (long long row = warp; row < a.B * a.T * a.H; row += gridDim.x * static_cast<long long>(blockDim.x) / 32) {
    const long long at = row * kRows;
    chain_rule_row(a.k + at, static_cast<const float*>(a.unit_k) + at, static_cast<const float*>(a.gradient_k) + at,
                   a.dk + at);
    chain_rule_row(a.q + at, static_cast<const float*>(a.unit_q) + at, static_cast<const float*>(a.gradient_q) + at,
                   a.dq + at);
  }
}
