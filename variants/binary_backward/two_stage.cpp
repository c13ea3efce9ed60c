// apo:variant    binary_backward/two_stage
// apo:target     host
// apo:technique  adaptive-threads
// apo:technique  two-stage-reduction
// apo:parent     binary_backward/vectorised
// apo:idea       Each thread adds its part of A to sums of its own, which are added at the end: no atomics, the same bits each time.
// apo:predict    1.2x..2.0x over parent: two cores, up to what the memory bus gives.
// apo:tune       ELEMENTS_PER_THREAD 32768,8192,131072
#include "binary_backward.args.h"
#include "broadcast_parts.h"

void binary_backward(const binary_backward_args& a, int threads) {
  binary_backward_in_parts(a, threads, ELEMENTS_PER_THREAD);
}
