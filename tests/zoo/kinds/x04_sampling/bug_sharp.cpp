// apo:variant  sample/bug_sharp
// apo:target   host
// apo:idea     A temperature of 0.8.
#include "chosen.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r)
    token[r] = chosen(logits + r * choices, choices, uniform(seed[0], r), 1.25f);
}
