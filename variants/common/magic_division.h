// variants/common/magic_division.h - division of a number below 2^31 by one that is known before the loop.
#pragma once
#include <stdint.h>

namespace {

// ceil(2^(32+shift) / divisor) with the smallest shift for which the quotient is exact for all numbers below 2^31
// (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
struct MagicDivision {
  uint64_t factor = 0;
  int shift = 0;

  MagicDivision() = default;
  explicit MagicDivision(uint32_t divisor) {
    while ((uint64_t{1} << shift) < divisor) {
      ++shift;
    }
    factor = ((uint64_t{1} << (31 + shift)) + divisor - 1) / divisor;
  }
  uint32_t operator()(uint32_t number) const { return static_cast<uint32_t>(number * factor >> (31 + shift)); }
};

}  // namespace
