// variants/common/magic_division.cuh - offsets in B by multiplications in place of divisions.
#pragma once
#include "broadcast.cuh"

namespace {

// Multiplications in place of divisions, exact for numbers below 2^31 (Granlund and Montgomery, 1994).
struct Magic {
  unsigned long long factor[8];
  int shift[8];

  __device__ void of(const Broadcast& shape) {
    for (int d = 0; d < shape.rank; ++d) {
      const unsigned long long divisor = shape.extent[d] > 0 ? shape.extent[d] : 1;
      for (shift[d] = 31; (1ull << (shift[d] - 31)) < divisor; ++shift[d]) {
      }
      factor[d] = ((1ull << shift[d]) + divisor - 1) / divisor;
    }
  }
  __device__ long long offset_in_b(const Broadcast& shape, unsigned rest) const {
    unsigned offset = 0;
    for (int d = shape.rank - 1; d >= 0; --d) {
      const unsigned outer = static_cast<unsigned>(rest * factor[d] >> shift[d]);
      offset += (rest - outer * static_cast<unsigned>(shape.extent[d])) * static_cast<unsigned>(shape.b_stride[d]);
      rest = outer;
    }
    return offset;
  }
};

}  // namespace
