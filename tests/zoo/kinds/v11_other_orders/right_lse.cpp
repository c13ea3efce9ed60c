// apo:variant  lse/right_lse
// apo:target   host
// apo:idea     One pass with a running maximum, in powers of two.
#include <cmath>
#include <cstdint>

void lse(const float* x, float* s, int64_t rows, int64_t cols) {
  constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147181f;
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    float largest = -INFINITY, total = 0;
    for (int64_t c = 0; c < cols; ++c) {
      if (x[c] > largest) {
        total *= std::exp2((largest - x[c]) * kLog2e);
        largest = x[c];
      }
      total += std::exp2((x[c] - largest) * kLog2e);
    }
    s[r] = largest + std::log2(total) * kLn2;
  }
}
