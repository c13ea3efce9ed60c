// apo:variant  stretched/bug
// apo:target   host
// apo:idea     Each element is repeated to / from times.
#include <algorithm>
#include <cstdint>

void stretched(const float* x, float* y, int64_t rows, int64_t from, int64_t to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < to; ++o)
      y[r * to + o] = x[r * from + std::min(o / (to / from), from - 1)];
}
