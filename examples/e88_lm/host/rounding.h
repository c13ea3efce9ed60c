// host/rounding.h - what the host rounds activations to: nothing, or bf16 as the GPU does.
#pragma once

#include <bit>
#include <cstdint>

namespace byte_lm {

struct Exact {
  template <class Real>
  static Real half(Real value) {
    return value;
  }
};

// To the nearest, ties to even. The error of an honest bf16 implementation, to hold the GPU's against.
struct Bf16 {
  static float half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (!(value == value)) {
      return value;
    }
    return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
  }
};

}  // namespace byte_lm
