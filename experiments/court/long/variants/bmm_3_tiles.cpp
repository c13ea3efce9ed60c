// Tiles of four rows and all columns: a row of W is read once for four rows of X.
#include <algorithm>
#include <cstdint>

void bmm(const float* x, const float* w, float* y, int64_t b, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < b; ++i)
    for (int64_t r = 0; r < m; r += 4) {
      const int64_t rows = std::min<int64_t>(4, m - r);
      float* tile = y + (i * m + r) * n;
      std::fill(tile, tile + rows * n, 0.0f);
      for (int64_t e = 0; e < k; ++e)
        for (int64_t row = 0; row < rows; ++row) {
          const float a = x[(i * m + r + row) * k + e];
          for (int64_t c = 0; c < n; ++c)
            tile[row * n + c] += a * w[(i * k + e) * n + c];
        }
    }
}
