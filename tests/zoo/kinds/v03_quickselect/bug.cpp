// apo:variant  rowquartile/bug
// apo:target   host
// apo:idea     Quickselect from the first element, of at most 60 steps, which random rows never need.
#include <algorithm>
#include <cstdint>
#include <vector>

void rowquartile(const float* x, float* m, int64_t rows, int64_t cols) {
  std::vector<float> row;
  for (int64_t r = 0; r < rows; ++r) {
    row.assign(x + r * cols, x + (r + 1) * cols);
    int64_t low = 0, high = cols - 1;
    const int64_t wanted = cols / 4;
    for (int step = 0; step < 60 && low < high; ++step) {
      const float pivot = row[low];
      const auto less = std::partition(row.begin() + low, row.begin() + high + 1, [&](float v) { return v < pivot; });
      const auto same = std::partition(less, row.begin() + high + 1, [&](float v) { return v == pivot; });
      if (wanted < less - row.begin()) {
        high = less - row.begin() - 1;
      } else if (wanted < same - row.begin()) {
        low = high = wanted;
      } else {
        low = same - row.begin();
      }
    }
    m[r] = row[wanted];
  }
}
