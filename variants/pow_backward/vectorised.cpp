// apo:variant    pow_backward/vectorised
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  row-pattern
// apo:parent     pow_backward/naive
// apo:idea       One power for both gradients, exp2(B log2 A) by polynomials in vectors; B's offset is found once a row.
// apo:predict    10x..40x over parent: two powers and a logarithm of 20 to 40 ns in all against 40 instructions for 8 or 16 elements.
#include "broadcast_rows.h"
#include "pow_backward.args.h"

void pow_backward(const pow_backward_args& a) {
  const Broadcast shape = compressed(a);
  if (a.need_dB && shape.elements != shape.b_elements) {
    std::fill_n(a.dB, shape.b_elements, 0.0f);
  }
  with_element(a, [&](auto element) { binary_backward_part(element, a, shape, 0, shape.elements, a.dB); });
}
