// apo:variant    binary_backward_bf16/two_stage
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  adaptive-threads
// apo:technique  two-stage-reduction
// apo:parent     binary_backward_bf16/simple
// apo:idea       Rows in vectors, a part for each thread with fp32 sums of its own, rounded once when they are added.
// apo:predict    5x..25x over parent: no division for an element, vectors, and two cores.
// apo:tune       ELEMENTS_PER_THREAD 32768,8192,131072
#include "binary_backward_bf16.args.h"
#include "broadcast_parts.h"

void binary_backward_bf16(const binary_backward_bf16_args& a, int threads) {
  binary_backward_in_parts(a, threads, ELEMENTS_PER_THREAD);
}
