// apo:variant    binary_backward/vectorised
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  row-pattern
// apo:parent     binary_backward/no_zero_fill
// apo:idea       B's offset is found once a row; a row that B keeps is added to dB in vectors, any other is summed in 16 lanes.
// apo:predict    3x..12x over parent: no index is divided for an element, and 8 or 16 elements share an instruction.
#include "binary_backward.args.h"
#include "broadcast_rows.h"

void binary_backward(const binary_backward_args& a) {
  const Broadcast shape = compressed(a);
  if (a.need_dB && shape.elements != shape.b_elements) {
    std::fill_n(a.dB, shape.b_elements, 0.0f);
  }
  with_element(a, [&](auto element) { binary_backward_part(element, a, shape, 0, shape.elements, a.dB); });
}
