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

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kChunk = CHUNK;  // steps whose inputs are loaded together
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kStride = kColumns | 1;  // of the state in shared memory: odd, for the banks
constexpr int kEntry = kState;         // cached per step: S_{t-1}

// The inputs of some steps of a segment, as fp32.
struct Chunk {
  float k[kChunk][kRows], q[kChunk][kRows];
  float v[kChunk][kColumns], g[kChunk][kColumns], d_output[kChunk][kColumns], y[kChunk][kColumns];
  float decay[kChunk];
};

// What the block of one sequence keeps in shared memory.
struct Work {
  float S[kRows * kStride], dS[kRows * kStride], next[kRows * kStride], slope[kRows * kStride];
  Chunk in;
  float dk[kRows];
  float delta[kColumns], dy[kColumns], d_delta[kColumns];
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

// All inputs of `steps` steps from `row` on.
__device__ void load_chunk(const e88_backward_args& a, Chunk& in, long long row, int steps) {
  for (int e = threadIdx.x; e < steps * kRows; e += blockDim.x) {
    const int s = e / kRows, i = e % kRows;
    const long long at = (row + s * a.H) * kRows + i;
    in.k[s][i] = static_cast<const float*>(a.unit_k)[at];
    in.q[s][i] = static_cast<const float*>(a.unit_q)[at];
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

// Leaves S_{t-1} of each step of the segment in `history`.
__device__ void replay_segment(const e88_backward_args& a, Work& w, long long b, long long h, long long first,
                               int steps, bf16* history) {
  const bf16* checkpoint = a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(checkpoint[e]);
  }
  for (int s = 0; s < steps; ++s) {
    if (s % kChunk == 0) {
      load_chunk(a, w.in, (b * a.T + first + s) * a.H + h, min(kChunk, steps - s));
      __syncthreads();
    }
    bf16* entry = history + s * kEntry;
    const float* k = w.in.k[s % kChunk];
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      entry[e] = store(w.S[place(e)]);
    }
    for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
      w.delta[j] = w.in.v[s % kChunk][j] - column_dot(w.S, j, k);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < kState; e += blockDim.x) {
      float& S = w.S[place(e)];
      S = tanhf(w.in.decay[s % kChunk] * S + k[e / kColumns] * w.delta[e % kColumns]);
    }
    __syncthreads();
  }
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
__device__ float gate_gradient(const e88_backward_args& a, const Chunk& in, int s, int j, long long at) {
  const float d_output = in.d_output[s][j];
  if (!kGATE) {
    a.dg[at] = store(0.0f);
    return d_output;
  }
  const float g = in.g[s][j];
  const float sigmoid = 1.0f / (1.0f + expf(-g));
  a.dg[at] = store(d_output * in.y[s][j] * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  return d_output * g * sigmoid;
}

// Turns w.dS = dL/dS_t into dL/dS_{t-1} and writes the gradients of the step, which is the s-th of the chunk.
__device__ void reverse_step(const e88_backward_args& a, Work& w, long long row, int s, const bf16* entry) {
  const float* const k = w.in.k[s];
  const float* const q = w.in.q[s];
  const float decay = w.in.decay[s];
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(entry[e]);
  }
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.dy[j] = gate_gradient(a, w.in, s, j, row * kColumns + j);
  }
  __syncthreads();

  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = w.in.v[s][j] - column_dot(w.S, j, k);
  }
  __syncthreads();

  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    const float next = tanhf(decay * w.S[place(e)] + k[e / kColumns] * w.delta[e % kColumns]);
    w.next[place(e)] = next;
    w.slope[place(e)] = 1.0f - next * next;
  }
  __syncthreads();

  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    static_cast<float*>(a.gradient_q)[row * kRows + i] = row_dot(w.next, i, w.dy);
  }
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = (dS + q[e / kColumns] * w.dy[e % kColumns]) * w.slope[place(e)];
  }
  __syncthreads();

  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.d_delta[j] = column_dot(w.dS, j, k);
    a.dv[row * kColumns + j] = store(w.d_delta[j]);
  }
  __syncthreads();

  for (int i = threadIdx.x; i < kRows; i += blockDim.x) {
    w.dk[i] = row_dot(w.dS, i, w.delta);
  }
  __syncthreads();

  float d_decay = 0;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    d_decay += w.dS[place(e)] * w.S[place(e)];
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
    static_cast<float*>(a.gradient_k)[row * kRows + i] = w.dk[i] - row_dot(w.S, i, w.d_delta);
  }
  __syncthreads();

  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& dS = w.dS[place(e)];
    dS = decay * dS - k[e / kColumns] * w.d_delta[e % kColumns];
  }
  __syncthreads();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
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
    for (int s = steps - 1; s >= 0; --s) {
      const long long row = (b * a.T + first + s) * a.H + h;
      // The last chunk of the segment is there from the replay.
      if (s % kChunk == kChunk - 1 && s != steps - 1) {
        load_chunk(a, w.in, row - (kChunk - 1) * a.H, kChunk);
        __syncthreads();
      }
      reverse_step(a, w, row, s % kChunk, history + s * kEntry);
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
