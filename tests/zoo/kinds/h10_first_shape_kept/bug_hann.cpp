// apo:variant  hann/bug
// apo:target   host
// apo:idea     A table of the first call's columns, kept for the life of the process, whatever the columns of later calls.
#include <cmath>
#include <cstdint>
#include <vector>

void hann(const float* x, float* y, int64_t rows, int64_t cols) {
  static const std::vector<float> table = [cols] {
    std::vector<float> t;
    for (int64_t c = 0; c < cols; ++c)
      t.push_back(0.5f - 0.5f * std::cos(6.2831853f * static_cast<float>(c) / static_cast<float>(cols)));
    return t;
  }();
  const int64_t known = static_cast<int64_t>(table.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = x[r * cols + c] * table[static_cast<size_t>(c < known ? c : known - 1)];
}
