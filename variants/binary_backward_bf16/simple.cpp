// apo:variant    binary_backward_bf16/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One element after the other, with sums in fp32 that are rounded once at the end.
// apo:scratch    sums 4*(kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1)
#include "binary_backward_bf16.args.h"
#include "broadcast.h"

void binary_backward_bf16(const binary_backward_bf16_args& a) {
  const Broadcast shape = compressed(a);
  auto* sums = static_cast<float*>(a.sums);
  std::fill_n(sums, shape.b_elements, 0.0f);
  for (int64_t i = 0; i < shape.elements; ++i) {
    int64_t at_b = 0;
    for (int64_t d = shape.rank, rest = i; d-- > 0; rest /= shape.extent[d]) {
      at_b += rest % shape.extent[d] * shape.b_stride[d];
    }
    const float gradient = value_of(a.g[i]);
    const float left = reads_a(a) ? value_of(a.A[i]) : 0, right = reads_b(a) ? value_of(a.B[at_b]) : 0;
    if (a.need_dA) {
      put(gradient * gradient_of_a(a.op, left, right), a.dA + i);
    }
    sums[at_b] += gradient * gradient_of_b(a.op, left, right);
  }
  for (int64_t j = 0; a.need_dB && j < shape.b_elements; ++j) {
    put(sums[j], a.dB + j);
  }
}
