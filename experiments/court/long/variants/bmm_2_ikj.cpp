#include <cstdint>
void bmm(const float* x, const float* w, float* y, int64_t b, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < b; ++i)
    for (int64_t r = 0; r < m; ++r) {
      float* row = y + (i * m + r) * n;
      for (int64_t c = 0; c < n; ++c)
        row[c] = 0;
      for (int64_t e = 0; e < k; ++e) {
        const float a = x[(i * m + r) * k + e];
        for (int64_t c = 0; c < n; ++c)
          row[c] += a * w[(i * k + e) * n + c];
      }
    }
}
