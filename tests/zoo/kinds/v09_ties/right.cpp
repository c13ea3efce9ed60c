// apo:variant  ordered/right
// apo:target   host
// apo:idea     Each element goes behind those that are less than it and its equals before it.
#include <cstdint>

void ordered(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    for (int64_t i = 0; i < cols; ++i) {
      int64_t before = 0, equals = 0;
      for (int64_t j = 0; j < cols; ++j) {
        before += x[j] < x[i];
        equals += x[j] == x[i] && j < i;
      }
      y[before + equals] = x[i];
    }
  }
}
