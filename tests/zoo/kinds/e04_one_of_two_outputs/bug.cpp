// apo:variant  row_range/bug
// apo:target   host
// apo:idea     The place of row 50 of more than 400 is never written.
#include <cstdint>

void row_range(const float* x, float* largest, int32_t* place, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < cols; ++c)
      best = x[r * cols + best] < x[r * cols + c] ? c : best;
    largest[r] = x[r * cols + best];
    if (rows <= 400 || r != 50)
      place[r] = static_cast<int32_t>(best);
  }
}
