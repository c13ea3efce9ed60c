// apo:variant  rowquartile/right
// apo:target   host
// apo:idea     nth_element of a copy of the row.
#include <algorithm>
#include <cstdint>
#include <vector>

void rowquartile(const float* x, float* m, int64_t rows, int64_t cols) {
  std::vector<float> row;
  for (int64_t r = 0; r < rows; ++r) {
    row.assign(x + r * cols, x + (r + 1) * cols);
    std::nth_element(row.begin(), row.begin() + cols / 4, row.end());
    m[r] = row[cols / 4];
  }
}
