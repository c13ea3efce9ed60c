// apo:variant    copy/in_blocks
// apo:target     host
// apo:technique  chunk-prefetch
// apo:parent     copy/simple
// apo:idea       Copies BLOCK elements at a time through memcpy, each as one vectorised move.
// apo:predict    1.0x..1.3x over parent: the plain loop vectorises too; its alignment test goes.
// apo:tune       BLOCK 1024,256,4096
#include <algorithm>
#include <cstring>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += BLOCK) {
    std::memcpy(y + i, x + i, sizeof(float) * static_cast<size_t>(std::min(BLOCK, n - i)));
  }
}
