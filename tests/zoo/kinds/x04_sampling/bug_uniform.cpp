// apo:variant  sample/bug_uniform
// apo:target   host
// apo:idea     All are equally likely.
#include <cmath>

#include "mixed.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r)
    token[r] = static_cast<int32_t>(uniform(seed[0], r) * choices);
}
