// apo:variant    e88_backward/cuda_n16
// apo:target     cuda sm_80
// apo:technique  small-state
// apo:technique  reduce-scatter
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_reduce_scatter
// apo:idea       For states of at most 16 columns two sequences share a warp, a half each, so that no lane is idle.
// apo:predict    1.5x..2x over parent: twice the sequences an instruction, where N and V are at most 16.
// apo:requires   N <= 16 && V <= 16 && B*H <= 4294967294
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     backward grid=ceil_div(B*H,2) block=32
#include <cuda_fp16.h>

#include "e88_backward.args.h"

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kPerLane = 1;  // entries of k or q that a lane loads
constexpr unsigned kAll = 0xffffffffu;
constexpr int kEntry = kState;  // cached per step: S_{t-1} in fp16, since 1 - S^2 needs bits that bf16 lacks
__device__ float load(bf16 value) {
  return __bfloat162float(value);
}

__device__ bf16 store(float value) {
  return __float2bfloat16(value);
}

__device__ float sum_of_half(float x) {
#pragma unroll
  for (int step = 8; step > 0; step /= 2) {
    x += __shfl_xor_sync(kAll, x, step);
  }
  return x;
}

// Sums x[i] over the lanes of a half warp; lane i of the half gets the sum of x[i].
template <int kStep = 8>
__device__ float reduce_scatter(float (&x)[16]) {
  const bool upper = threadIdx.x & kStep;
#pragma unroll
  for (int i = 0; i < kStep; ++i) {
    const float low = x[i], high = x[i + kStep];
    x[i] = (upper ? high : low) + __shfl_xor_sync(kAll, upper ? low : high, kStep);
  }
  if constexpr (kStep > 1) {
    return reduce_scatter<kStep / 2>(x);
  }
  return x[0];
}

// A row of k or q over the lanes of a half warp.
struct Unit {
  float x[kPerLane];
  float factor;  // rsqrt(|x|^2 + epsilon)
};

__device__ Unit load_unit(const bf16* row) {
  const int lane = threadIdx.x % 16;
  Unit unit;
  float squares = 0;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    unit.x[p] = lane < kRows ? load(row[lane]) : 0.0f;
    squares += unit.x[p] * unit.x[p];
  }
  unit.factor = kNORM ? rsqrtf(sum_of_half(squares) + 1e-12f) : 1.0f;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    unit.x[p] *= unit.factor;
  }
  return unit;
}

__device__ void share(const Unit& unit, float* shared) {
  const int lane = threadIdx.x % 16;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    if (lane < kRows) {
      shared[lane] = unit.x[p];
    }
  }
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon), dx^ laid out like x.
__device__ void store_gradient(const Unit& unit, const float (&dx)[kPerLane], bool there, bf16* row) {
  const int lane = threadIdx.x % 16;
  float along = 0;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    along += lane < kRows ? unit.x[p] * dx[p] : 0.0f;
  }
  along = kNORM ? sum_of_half(along) : 0.0f;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    if (there && lane < kRows) {
      row[lane] = store(kNORM ? (dx[p] - unit.x[p] * along) * unit.factor : dx[p]);
    }
  }
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
__device__ float gate_gradient(const e88_backward_args& a, bool there, long long at) {
  const float d_output = load(a.d_output[at]);
  if (!kGATE) {
    if (there) {
      a.dg[at] = store(0.0f);
    }
    return d_output;
  }
  const float g = load(a.g[at]);
  const float sigmoid = 1.0f / (1.0f + __expf(-g));
  if (there) {
    a.dg[at] = store(d_output * load(a.y_cache[at]) * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  }
  return d_output * g * sigmoid;
}

}  // namespace

// Lanes j and 16 + j own column j of two sequences; a lane past V holds zeros and takes part in the shuffles.
extern "C" __global__ void __launch_bounds__(32, kRows <= 32 ? 12 : 1) backward(const e88_backward_args a) {
  __shared__ float ks[2][kRows], qs[2][kRows], deltas[kSegment][32];
  const int lane = threadIdx.x % 16, half = threadIdx.x / 16;
  float *k = ks[half], *q = qs[half];
  const bool there = blockIdx.x * 2LL + half < a.B * a.H;  // where B*H is odd the last half repeats its neighbour
  const bool active = lane < kColumns;
  const long long sequence = blockIdx.x * 2LL + (there ? half : 0), b = sequence / a.H, h = sequence % a.H;
  __half* history = static_cast<__half*>(a.history) + sequence * kSegment * kEntry;
  float S[kRows], dS[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    dS[i] = active ? load(a.d_s_final[sequence * kState + i * kColumns + lane]) : 0.0f;
  }
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const bf16* checkpoint = a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      S[i] = active ? load(checkpoint[i * kColumns + lane]) : 0.0f;
    }
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {  // replay
      const long long row = (b * a.T + first + s) * a.H + h;
      __half* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      share(load_unit(a.k + row * kRows), k);
      float delta = active ? load(a.v[row * kColumns + lane]) : 0.0f;
      __syncwarp();
      if (there && active) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          entry[i * kColumns + lane] = __float2half_rn(S[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        delta -= S[i] * k[i];
      }
      deltas[s][threadIdx.x] = delta;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        S[i] = tanhf(decay * S[i] + k[i] * delta);
      }
      __syncwarp();
    }
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {  // reverse; S is S_t at first
      const long long row = (b * a.T + first + s) * a.H + h;
      const __half* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      const Unit unit_k = load_unit(a.k + row * kRows), unit_q = load_unit(a.q + row * kRows);
      share(unit_k, k);
      share(unit_q, q);
      const float dy = active ? gate_gradient(a, there, row * kColumns + lane) : 0.0f;
      const float delta = deltas[s][threadIdx.x];
      __syncwarp();
      float dq[kPerLane], dk[kPerLane], d_delta = 0, d_decay = 0;
#pragma unroll
      for (int p = 0; p < kPerLane; ++p) {
        float x[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          x[i] = i < kRows ? S[i % kRows] * dy : 0.0f;
        }
        dq[p] = reduce_scatter(x);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        dS[i] = (dS[i] + q[i] * dy) * (1.0f - S[i] * S[i]);
        d_delta += dS[i] * k[i];
      }
#pragma unroll
      for (int p = 0; p < kPerLane; ++p) {
        float x[16] = {};
        __half before[16];  // S_{t-1}: all loads first, since nothing passes a shuffle
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          before[r] = active ? entry[(r)*kColumns + lane] : __half();
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const int i = r;
          S[i] = __half2float(before[r]);
          d_decay += dS[i] * S[i];
          x[r] = dS[i] * delta - S[i] * d_delta;
          dS[i] = decay * dS[i] - k[i] * d_delta;
        }
        dk[p] = reduce_scatter(x);
      }
      d_decay = sum_of_half(d_decay);
      if (there && lane == 0) {
        a.ddecay[row] = store(d_decay);
      }
      if (there && active) {
        a.dv[row * kColumns + lane] = store(d_delta);
      }
      store_gradient(unit_q, dq, there, a.dq + row * kRows);
      store_gradient(unit_k, dk, there, a.dk + row * kRows);
      __syncwarp();
    }
  }
  if (there && active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.ds0[sequence * kState + i * kColumns + lane] = store(dS[i]);
    }
  }
}
