// apo:variant  add_norm/bug_not_stored
// apo:target   host
// apo:idea     The sum is used for the norm, and never stored in h.
#include <cmath>

#include "bf16.h"

void add_norm(const uint16_t* x, uint16_t* y, uint16_t* h, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols, h += cols) {
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float both = wide(narrow(wide(h[c]) + wide(x[c])));
      squares += both * both;
    }
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = narrow(wide(narrow(wide(h[c]) + wide(x[c]))) * scale);
  }
}
