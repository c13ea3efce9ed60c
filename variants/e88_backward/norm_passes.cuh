// variants/e88_backward/norm_passes.cuh - the kernels around `backward` where the L2 norm is a pass over memory.
#pragma once
#include "e88_state.cuh"

extern "C" __global__ void normalise(const e88_backward_args a) {
  normalise_all(a);
}

extern "C" __global__ void chain_rule(const e88_backward_args a) {
  warp_for_all(a, [&](long long row) {
    const long long at = row * kRows;
    chain_rule_row(static_cast<const float*>(a.unit_k) + at, inverse_norm(a.k + at),
                   static_cast<const float*>(a.gradient_k) + at, a.dk + at);
    chain_rule_row(static_cast<const float*>(a.unit_q) + at, inverse_norm(a.q + at),
                   static_cast<const float*>(a.gradient_q) + at, a.dq + at);
  });
}
