// apo:variant  sample/bug_beyond
// apo:target   host
// apo:idea     One too far.
#include "chosen.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r)
    token[r] = 1 + chosen(logits + r * choices, choices, uniform(seed[0], r));
}
