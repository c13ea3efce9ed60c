// apo:variant  sample/bug_largest
// apo:target   host
// apo:idea     The likeliest one, always.
#include <cmath>

#include "mixed.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r) {
    token[r] = 0;
    for (int64_t c = 1; c < choices; ++c)
      if (logits[r * choices + c] > logits[r * choices + token[r]])
        token[r] = static_cast<int32_t>(c);
  }
}
