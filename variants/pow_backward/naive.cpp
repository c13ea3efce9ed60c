// apo:variant    pow_backward/naive
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One element after the other, with two powers and a logarithm of the C library; dB was zeroed.
#include <cmath>

#include "broadcast.h"
#include "pow_backward.args.h"

void pow_backward(const pow_backward_args& a) {
  const Broadcast shape = compressed(a);
  std::fill_n(a.dB, a.need_dB ? shape.b_elements : 0, 0.0f);
  for (int64_t i = 0; i < shape.elements; ++i) {
    int64_t at_b = 0;
    for (int64_t d = shape.rank, rest = i; d-- > 0; rest /= shape.extent[d]) {
      at_b += rest % shape.extent[d] * shape.b_stride[d];
    }
    const float left = a.A[i], right = a.B[at_b];
    if (a.need_dA) {
      a.dA[i] = a.g[i] * (right * std::pow(left, right - 1));
    }
    if (a.need_dB) {
      a.dB[at_b] += a.g[i] * (std::pow(left, right) * std::log(left));
    }
  }
}
