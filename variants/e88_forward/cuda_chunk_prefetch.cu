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

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kChunk = CHUNK;  // steps whose inputs are loaded together
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kStride = kColumns | 1;  // of the state in shared memory: odd, for the banks

// What the block of one sequence keeps in shared memory.
struct Work {
  float S[kRows * kStride];
  float k[kChunk][kRows], q[kChunk][kRows];
  float v[kChunk][kColumns], decay[kChunk];
  float delta[kColumns];
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

// One warp: unit = x * rsqrt(|x|^2 + epsilon)
__device__ void normalise_row(const bf16* x, float* unit) {
  float squares = 0;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    squares += load(x[i]) * load(x[i]);
  }
  for (int step = 16; step > 0; step /= 2) {
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  const float scale = kNORM ? rsqrtf(squares + 1e-12f) : 1.0f;
  for (int i = threadIdx.x % 32; i < kRows; i += 32) {
    unit[i] = load(x[i]) * scale;
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

__device__ void store_state(const Work& w, bf16* to) {
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    to[e] = store(w.S[place(e)]);
  }
}

// The inputs of `steps` steps from `row` on.
__device__ void load_chunk(const e88_forward_args& a, Work& w, long long row, int steps) {
  for (int e = threadIdx.x; e < steps * kRows; e += blockDim.x) {
    const int s = e / kRows, i = e % kRows;
    w.k[s][i] = static_cast<const float*>(a.unit_k)[(row + s * a.H) * kRows + i];
    w.q[s][i] = static_cast<const float*>(a.unit_q)[(row + s * a.H) * kRows + i];
  }
  for (int e = threadIdx.x; e < steps * kColumns; e += blockDim.x) {
    w.v[e / kColumns][e % kColumns] = load(a.v[(row + e / kColumns * a.H) * kColumns + e % kColumns]);
  }
  for (int s = threadIdx.x; s < steps; s += blockDim.x) {
    w.decay[s] = load(a.decay[row + s * a.H]);
  }
}

// Step s of the chunk; `row` is that of the step in [B,T,H].
__device__ void step(const e88_forward_args& a, Work& w, long long row, int s) {
  const float *k = w.k[s], *q = w.q[s];
  const float decay = w.decay[s];
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    w.delta[j] = w.v[s][j] - column_dot(w.S, j, k);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    float& S = w.S[place(e)];
    S = tanhf(decay * S + k[e / kColumns] * w.delta[e % kColumns]);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < kColumns; j += blockDim.x) {
    const float y = column_dot(w.S, j, q);
    static_cast<float*>(a.ungated)[row * kColumns + j] = y;
    a.y_cache[row * kColumns + j] = store(y);
  }
  __syncthreads();
}

}  // namespace

extern "C" __global__ void normalise(const e88_forward_args a) {
  const long long warp = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
  for (long long row = warp; row < a.B * a.T * a.H; row += gridDim.x * static_cast<long long>(blockDim.x) / 32) {
    normalise_row(a.k + row * kRows, static_cast<float*>(a.unit_k) + row * kRows);
    normalise_row(a.q + row * kRows, static_cast<float*>(a.unit_q) + row * kRows);
  }
}

extern "C" __global__ void __launch_bounds__(256, 6) forward(const e88_forward_args a) {
  extern __shared__ float shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  for (int e = threadIdx.x; e < kState; e += blockDim.x) {
    w.S[place(e)] = load(a.s0[sequence * kState + e]);
  }
  __syncthreads();
  for (long long t = 0; t < a.T; ++t) {
    const long long row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store_state(w, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kState);
    }
    if (t % kChunk == 0) {
      load_chunk(a, w, row, min(static_cast<long long>(kChunk), a.T - t));
    }
    if (t % kSegment == 0 || t % kChunk == 0) {
      __syncthreads();
    }
    step(a, w, row, t % kChunk);
  }
  store_state(w, a.s_final + sequence * kState);
}

// output = y * silu(g), a pass of its own over memory.
extern "C" __global__ void gate(const e88_forward_args a) {
  const long long count = a.B * a.T * a.H * kColumns;
  for (long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; at < count;
       at += gridDim.x * static_cast<long long>(blockDim.x)) {
    const float y = static_cast<const float*>(a.ungated)[at], g = load(a.g[at]);
    a.output[at] = store(kGATE ? y * g / (1.0f + expf(-g)) : y);
  }
}
