#include <cstdint>
void bmm(const float* x, const float* w, float* y, int64_t b, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < b; ++i)
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        float sum = 0;
        for (int64_t e = 0; e < k; ++e)
          sum += x[(i * m + r) * k + e] * w[(i * k + e) * n + c];
        y[(i * m + r) * n + c] = sum;
      }
}
