// apo:variant  row_range/right_in_two_passes
// apo:target   host
// apo:idea     All values first, then all places.
#include <algorithm>
#include <cstdint>

void row_range(const float* x, float* largest, int32_t* place, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    largest[r] = *std::max_element(x + r * cols, x + (r + 1) * cols);
  for (int64_t r = 0; r < rows; ++r) {
    place[r] = static_cast<int32_t>(std::max_element(x + r * cols, x + (r + 1) * cols) - (x + r * cols));
  }
}
