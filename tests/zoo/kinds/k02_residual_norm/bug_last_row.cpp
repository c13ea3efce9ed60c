// apo:variant  add_norm/bug_last_row
// apo:target   host
// apo:idea     The sum of the last row is not stored.
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
    for (int64_t c = 0; c < cols; ++c) {
      const uint16_t both = narrow(wide(h[c]) + wide(x[c]));
      y[c] = narrow(wide(both) * scale);
      if (r + 1 < rows)
        h[c] = both;
    }
  }
}
