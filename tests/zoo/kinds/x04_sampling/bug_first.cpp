// apo:variant  sample/bug_first
// apo:target   host
// apo:idea     The first one.
#include <cmath>

#include "mixed.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r)
    token[r] = 0;
}
