// apo:variant    binary_backward/naive
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       Each element divides its index by every dimension, for A and again for B, and adds to a dB that was zeroed.
#include "binary_backward.args.h"
#include "broadcast.h"

namespace {

int64_t offset_of(const Broadcast& shape, int64_t index, const int64_t* strides) {
  int64_t offset = 0;
  for (int d = 0; d < shape.rank; ++d) {
    offset += index / shape.stride[d] % shape.extent[d] * strides[d];
  }
  return offset;
}

}  // namespace

void binary_backward(const binary_backward_args& a) {
  const Broadcast shape = as_given(a);
  std::fill_n(a.dA, a.need_dA ? shape.elements : 0, 0.0f);
  std::fill_n(a.dB, a.need_dB ? shape.b_elements : 0, 0.0f);
  for (int64_t i = 0; i < shape.elements; ++i) {
    const int64_t at_a = offset_of(shape, i, shape.stride), at_b = offset_of(shape, i, shape.b_stride);
    const float left = reads_a(a) ? a.A[at_a] : 0, right = reads_b(a) ? a.B[at_b] : 0;
    if (a.need_dA) {
      a.dA[at_a] = a.g[i] * gradient_of_a(a.op, left, right);
    }
    if (a.need_dB) {
      a.dB[at_b] += a.g[i] * gradient_of_b(a.op, left, right);
    }
  }
}
