// apo:variant  row_range/right
// apo:target   host
// apo:idea     One row after the other.
#include <cstdint>

void row_range(const float* x, float* largest, int32_t* place, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < cols; ++c)
      best = x[r * cols + best] < x[r * cols + c] ? c : best;
    largest[r] = x[r * cols + best];
    place[r] = static_cast<int32_t>(best);
  }
}
