// activations.cuh - SiLU of q, k and v, which one GEMM leaves side by side, and its gradient; the gate where it has to
// move.
#pragma once
#include "formulas.h"
#include "vectors.cuh"

namespace byte_lm {

// What a thread works on: eight elements of q, k, v or the gate (parts 0 to 3) of the row blockIdx.x, or nothing
// (more). The divisions are of 32 bits: those of 64 would take longer than the memory does.
struct ActivationPlace {
  long long row;
  unsigned part, column;

  __device__ explicit ActivationPlace(long long width) : row(blockIdx.x) {
    const unsigned eighth = static_cast<unsigned>(width / 8), index = blockIdx.y * blockDim.x + threadIdx.x;
    part = index / eighth;
    column = index % eighth * 8;
  }
};

// Without `gate_out` the gate stays where it is. The grid is [rows, width / 2 / block].
inline __device__ void activate_eight(long long width, const bf16* qkv, long long qkv_stride, const bf16* gate,
                                      long long gate_stride, bf16* q, bf16* k, bf16* v, bf16* gate_out) {
  const ActivationPlace at(width);
  if (at.part > 3 || (at.part == 3 && gate_out == nullptr)) {
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

inline __device__ void activate_backward_eight(long long width, const bf16* qkv, long long qkv_stride, const bf16* dq,
                                               const bf16* dk, const bf16* dv, const bf16* d_gate, bf16* d_qkv,
                                               long long d_qkv_stride, bf16* d_gate_out, long long d_gate_stride) {
  const ActivationPlace at(width);
  if (at.part > 3 || (at.part == 3 && d_gate_out == nullptr)) {
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
