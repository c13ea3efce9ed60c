// apo:variant    copy/streaming
// apo:target     host
// apo:technique  streaming-stores
// apo:parent     copy/simple
// apo:idea       Stores bypass the cache, so the lines of y are not read before they are overwritten.
// apo:predict    0.5x..1.5x over parent: a third less traffic, or a loss where y would have stayed in the cache.
#include "copy.args.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

// Copies whole cache lines past the cache and returns how many elements that were; y is aligned to 64 bytes.
int64_t stream_lines(const float* x, float* y, int64_t n) {
  int64_t i = 0;
#if defined(__SSE2__)
  for (; i + 16 <= n; i += 16) {
    for (int64_t part = 0; part < 16; part += 4) {
      _mm_stream_ps(y + i + part, _mm_loadu_ps(x + i + part));
    }
  }
  _mm_sfence();  // streaming stores are not ordered with what the caller does next
#endif
  return i;
}

}  // namespace

void copy(const float* x, float* y, int64_t n) {
  for (int64_t i = stream_lines(x, y, n); i < n; ++i) {
    y[i] = x[i];
  }
}
