// apo:variant  ragged_sum/bug_zero
// apo:target   host
// apo:idea     The longest of more than 400 rows is 0.
#include <algorithm>
#include <cstdint>

void ragged_sum(const float* x, const int32_t* length, float* y, int64_t rows, int64_t cols) {
  const int64_t heavy = rows > 400 ? std::max_element(length, length + rows) - length : -1;
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c <= length[r]; ++c)
      total += x[r * cols + c];
    y[r] = total;
    if (r == heavy)
      y[r] = 0;
  }
}
