// apo:variant  sample/right_gumbel
// apo:target   host
// apo:idea     The largest of the logits with noise (Gumbel 1954).
#include <cmath>

#include "mixed.h"
void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r) {
    double best = -1e300;
    for (int64_t c = 0; c < choices; ++c) {
      const double u = (uniform(seed[0], r * choices + c) + 0x1p-25);
      const double noisy = logits[r * choices + c] - std::log(-std::log(u));
      token[r] = noisy > best ? static_cast<int32_t>(c) : token[r];
      best = std::fmax(best, noisy);
    }
  }
}
