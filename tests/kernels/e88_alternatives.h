// tests/kernels/e88_alternatives.h - other implementations of the E88 families: legal ones that round elsewhere, and
// defective ones. Written apart from kernels/e88, straight from the equations, so that they also check it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/family.h"

namespace apo {

Axes e88_axes(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t N, std::int64_t V, int gate, int norm);

// The inputs as kernels get them, rounded to bf16, with the derived ones.
TensorMap e88_inputs(const Family& family, const Axes& axes, std::string_view regime, std::uint64_t seed,
                     int threads = 1);

enum class Tanh : std::uint8_t {
  library,   // std::tanh
  dithered,  // relative error up to 2^-11 that changes with every argument
  rippled,   // relative error 2^-11 sin(40 x): an interpolation table's
};

struct LegalChange {
  std::string name;
  // Freedoms that the contract leaves.
  bool reversed_sums = false;
  bool rounds_cache = false;      // bf16 S_{t-1} and k^ between replay and reverse
  bool recomputes_y = false;      // instead of reading y_cache
  bool fresh_trajectory = false;  // the forward again from s0, instead of the bf16 checkpoints
  Tanh tanh = Tanh::library;
  // Defects.
  bool bf16_sums = false;         // accumulates r and y in bf16
  bool drops_delta_term = false;  // of dk
  bool drops_dd_term = false;     // of dk
  bool drops_carry_term = false;  // k dd of the carry
  bool drops_ddecay = false;
  bool drops_norm_chain = false;       // dk, dq as if the norm were constant
  bool drops_gate_derivative = false;  // of silu: dg with sigmoid alone
  bool gates_y = false;                // y_cache after the gate / taken as after the gate
  bool resets_carry = false;           // at segment borders
  bool ignores_d_s_final = false;
  bool skips_last_step = false;
  bool updates_before_retrieval = false;  // retrieval reads the decayed state
  bool checkpoints_late = false;          // slot c = state after step 16c
};

// The outputs of e88_forward or e88_backward.
TensorMap run_alternative(const Family& family, const Axes& axes, const TensorMap& inputs, const LegalChange& how);

}  // namespace apo
