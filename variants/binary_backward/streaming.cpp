// apo:variant    binary_backward/streaming
// apo:target     host
// apo:technique  streaming-stores
// apo:parent     binary_backward/two_stage
// apo:idea       What is large and written once bypasses the cache, 256 bytes at a time: its lines are not read before they are overwritten.
// apo:predict    1.1x..1.4x over parent: three streams in place of four for a product, five in place of seven where B repeats nowhere.
// apo:tune       ELEMENTS_PER_THREAD 32768,8192,131072
// apo:tune       STREAM_FROM 2097152,0
#include "binary_backward.args.h"
#include "broadcast_parts.h"

void binary_backward(const binary_backward_args& a, int threads) {
  const int64_t elements = a.d0 * a.d1 * a.d2 * a.d3 * a.d4 * a.d5 * a.d6 * a.d7;
  if (elements >= STREAM_FROM) {
    binary_backward_in_parts<Stores::streaming>(a, threads, ELEMENTS_PER_THREAD);
  } else {
    binary_backward_in_parts(a, threads, ELEMENTS_PER_THREAD);
  }
}
