// apo:variant  levelled/right_lanes
// apo:target   host
// apo:idea     Two passes with eight partial sums each.
#include <cmath>
#include <cstdint>

template <class Term>
static float in_lanes(int64_t n, Term term) {
  float lanes[8] = {};
  for (int64_t i = 0; i < n; ++i)
    lanes[i % 8] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

void levelled(const float* x, float* y, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const float mean = in_lanes(cols, [&](int64_t c) { return x[c]; }) / cols;
    const float squares = in_lanes(cols, [&](int64_t c) { return (x[c] - mean) * (x[c] - mean); });
    const float scale = 1 / std::sqrt(squares / cols + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - mean) * scale;
  }
}
