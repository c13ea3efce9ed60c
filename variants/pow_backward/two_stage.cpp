// apo:variant    pow_backward/two_stage
// apo:target     host
// apo:technique  adaptive-threads
// apo:technique  two-stage-reduction
// apo:parent     pow_backward/vectorised
// apo:idea       Each thread adds its part of A to sums of its own, which are added at the end: no atomics, the same bits each time.
// apo:predict    1.4x..2.0x over parent: two cores, and unlike a product's, these elements take longer to compute than to move.
// apo:tune       ELEMENTS_PER_THREAD 32768,8192,131072
#include "broadcast_parts.h"
#include "pow_backward.args.h"

void pow_backward(const pow_backward_args& a, int threads) {
  binary_backward_in_parts(a, threads, ELEMENTS_PER_THREAD);
}
