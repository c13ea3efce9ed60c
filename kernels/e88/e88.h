// kernels/e88/e88.h - the families `e88_forward` and `e88_backward`: a recurrence with a matrix state, and its
// gradient.
//
// Per batch b and head h, t = 0..T-1, with the state S of N x V values, S_{-1} = s0 (spec: section 1 of the E88 notes):
//   k^ = k_t * rsqrt(sum_i k_i^2 + 1e-12), q^ likewise      (NORM=0: k^ = k_t, q^ = q_t)
//   delta_j = v_j - sum_i S_{t-1}[i,j] k^_i
//   S_t[i,j] = tanh(a_t S_{t-1}[i,j] + k^_i delta_j)
//   y_j = sum_i S_t[i,j] q^_i
//   output_j = y_j silu(g_j)                                 (GATE=0: output_j = y_j, g is not read)
// All tensors are bf16, [B,T,H,D]; arithmetic and the state are fp32. What is rounded to bf16 is in `sequence.h`.
#pragma once

#include "kernels/family.h"

namespace apo {

Family e88_forward_family();
Family e88_backward_family();

}  // namespace apo
