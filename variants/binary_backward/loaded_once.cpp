// apo:variant    binary_backward/loaded_once
// apo:target     host
// apo:technique  loaded-once
// apo:parent     binary_backward/magic_division
// apo:idea       g is read once, because the compiler is told that no output lies over it.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648
// apo:predict    1.0x..1.1x over parent: the second load hits the first-level cache; on the GPU it is 4 of 31 sectors of a warp.
#include "binary_backward.args.h"
#include "broadcast.h"
#include "magic_division.h"

void binary_backward(const binary_backward_args& a) {
  const Broadcast shape = compressed(a);
  MagicDivision by[8];
  for (int d = 0; d < shape.rank; ++d) {
    by[d] = MagicDivision(static_cast<uint32_t>(std::max<int64_t>(shape.extent[d], 1)));
  }
  std::fill_n(a.dA, a.need_dA ? shape.elements : 0, 0.0f);
  std::fill_n(a.dB, a.need_dB ? shape.b_elements : 0, 0.0f);
  const float* __restrict g = a.g;
  float* __restrict dA = a.dA;
  float* __restrict dB = a.dB;
  for (int64_t i = 0; i < shape.elements; ++i) {
    int64_t at_b = 0;
    auto rest = static_cast<uint32_t>(i);
    for (int d = shape.rank; d-- > 0;) {
      const uint32_t outer = by[d](rest);
      at_b += (rest - outer * static_cast<uint32_t>(shape.extent[d])) * shape.b_stride[d];
      rest = outer;
    }
    const float gradient = g[i];
    const float left = reads_a(a) ? a.A[i] : 0, right = reads_b(a) ? a.B[at_b] : 0;
    if (a.need_dA) {
      dA[i] = gradient * gradient_of_a(a.op, left, right);
    }
    if (a.need_dB) {
      dB[at_b] += gradient * gradient_of_b(a.op, left, right);
    }
  }
}
