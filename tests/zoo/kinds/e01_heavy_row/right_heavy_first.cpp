// apo:variant  ragged_sum/right_heavy_first
// apo:target   host
// apo:idea     The longest row first, the others behind it.
#include <algorithm>
#include <cstdint>

void ragged_sum(const float* x, const int32_t* length, float* y, int64_t rows, int64_t cols) {
  const auto add = [&](int64_t r) {
    float total = 0;
    for (int64_t c = 0; c <= length[r]; ++c)
      total += x[r * cols + c];
    y[r] = total;
  };
  const int64_t heavy = std::max_element(length, length + rows) - length;
  add(heavy);
  for (int64_t r = 0; r < rows; ++r) {
    if (r != heavy)
      add(r);
  }
}
