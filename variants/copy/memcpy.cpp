// apo:variant    copy/memcpy
// apo:target     host
// apo:technique  library-call
// apo:parent     copy/simple
// apo:idea       The C library's copy, which picks its instructions for this CPU when it is loaded.
// apo:predict    0.95x..1.1x over parent: the compiler vectorises the loop, so both wait for memory.
#include <cstring>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
  std::memcpy(y, x, static_cast<size_t>(n) * sizeof(float));
}
