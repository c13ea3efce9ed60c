// apo:variant  firstpeak/right
// apo:target   host
// apo:idea     The first NaN is larger than all.
#include <cmath>
#include <cstdint>

void firstpeak(const float* x, int32_t* at, float* p, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    int32_t best = 0;
    for (int64_t c = 1; c < cols; ++c) {
      if (!std::isnan(x[best]) && (std::isnan(x[c]) || x[c] > x[best]))
        best = c;
    }
    at[r] = best;
    p[r] = x[best];
  }
}
