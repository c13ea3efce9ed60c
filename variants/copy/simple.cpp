// apo:variant    copy/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One element after the other, as anyone would write it first.
#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
