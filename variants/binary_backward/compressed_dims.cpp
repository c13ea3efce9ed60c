// apo:variant    binary_backward/compressed_dims
// apo:target     host
// apo:technique  effective-dims
// apo:parent     binary_backward/one_pass_offsets
// apo:idea       A's offset is the index; dimensions of 1 are left out and neighbours merged, so that B's needs few divisions.
// apo:predict    1.3x..2.5x over parent: three dimensions become one or two; the document gives no number that can be read.
#include "binary_backward.args.h"
#include "broadcast.h"

void binary_backward(const binary_backward_args& a) {
  const Broadcast shape = compressed(a);
  std::fill_n(a.dA, a.need_dA ? shape.elements : 0, 0.0f);
  std::fill_n(a.dB, a.need_dB ? shape.b_elements : 0, 0.0f);
  for (int64_t i = 0; i < shape.elements; ++i) {
    int64_t at_b = 0;
    for (int64_t d = shape.rank, rest = i; d-- > 0;) {
      const int64_t outer = d == 0 ? 0 : rest / shape.extent[d];
      at_b += (rest - outer * shape.extent[d]) * shape.b_stride[d];
      rest = outer;
    }
    const float left = reads_a(a) ? a.A[i] : 0, right = reads_b(a) ? a.B[at_b] : 0;
    if (a.need_dA) {
      a.dA[i] = a.g[i] * gradient_of_a(a.op, left, right);
    }
    if (a.need_dB) {
      a.dB[at_b] += a.g[i] * gradient_of_b(a.op, left, right);
    }
  }
}
