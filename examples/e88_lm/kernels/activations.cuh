// activations.cuh - SiLU of q, k and v, which one GEMM leaves side by side, and its gradient; the gate where it has to
// move.
#pragma once
#include "formulas.h"
#include "vectors.cuh"

namespace byte_lm {

// What a thread of a [rows, 4 width / 8] grid works on: eight elements of q, k, v or the gate.
struct ActivationPlace {
  long long row, part, column;

  __device__ ActivationPlace(long long index, long long width)
      : row(index / (width / 2)), part(index % (width / 2) / (width / 8)), column(index % (width / 8) * 8) {}
};

// Without `gate_out` the gate stays where it is.
inline __device__ void activate_eight(long long rows, long long width, const bf16* qkv, long long qkv_stride,
                                      const bf16* gate, long long gate_stride, bf16* q, bf16* k, bf16* v,
                                      bf16* gate_out) {
  const ActivationPlace at(static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, width);
  if (at.row >= rows || (at.part == 3 && gate_out == nullptr)) {
    return;
  }
  const long long to = at.row * width + at.column;
  if (at.part == 3) {
    store_eight(load_eight(gate + at.row * gate_stride + at.column), gate_out + to);
    return;
  }
  Eight values = load_eight(qkv + at.row * qkv_stride + at.part * width + at.column);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    values.x[j] = silu(values.x[j]);
  }
  store_eight(values, (at.part == 0 ? q : at.part == 1 ? k : v) + to);
}

inline __device__ void activate_backward_eight(long long rows, long long width, const bf16* qkv, long long qkv_stride,
                                               const bf16* dq, const bf16* dk, const bf16* dv, const bf16* d_gate,
                                               bf16* d_qkv, long long d_qkv_stride, bf16* d_gate_out,
                                               long long d_gate_stride) {
  const ActivationPlace at(static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, width);
  if (at.row >= rows || (at.part == 3 && d_gate_out == nullptr)) {
    return;
  }
  const long long from = at.row * width + at.column;
  if (at.part == 3) {
    store_eight(load_eight(d_gate + from), d_gate_out + at.row * d_gate_stride + at.column);
    return;
  }
  const long long place = at.part * width + at.column;
  const Eight x = load_eight(qkv + at.row * qkv_stride + place);
  Eight d = load_eight((at.part == 0 ? dq : at.part == 1 ? dk : dv) + from);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    d.x[j] = silu_gradient(x.x[j], d.x[j]);
  }
  store_eight(d, d_qkv + at.row * d_qkv_stride + place);
}

}  // namespace byte_lm
