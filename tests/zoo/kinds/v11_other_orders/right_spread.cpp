// apo:variant  spread/right_spread
// apo:target   host
// apo:idea     Four lanes with Welford's update each, merged as Chan does.
#include <cstdint>

void spread(const float* x, float* m, float* v, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    float mean[4] = {}, squares[4] = {}, count[4] = {};
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t l = c % 4;
      const float apart = x[c] - mean[l];
      mean[l] += apart / ++count[l];
      squares[l] += apart * (x[c] - mean[l]);
    }
    for (int64_t l = 1; l < 4 && count[l] > 0; ++l) {
      const float apart = mean[l] - mean[0], all = count[0] + count[l];
      mean[0] += apart * count[l] / all;
      squares[0] += squares[l] + apart * apart * count[0] * count[l] / all;
      count[0] = all;
    }
    m[r] = mean[0];
    v[r] = squares[0] / cols;
  }
}
