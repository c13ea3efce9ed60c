#include <algorithm>
#include <cstdint>
// Whole rows at a time: the innermost loop runs along a row and vectorises.
void conv2d(const float* x, const float* weight, float* y, int64_t n, int64_t c, int64_t h, int64_t w, int64_t k) {
  for (int64_t b = 0; b < n; ++b)
    for (int64_t o = 0; o < k; ++o) {
      float* plane = y + (b * k + o) * h * w;
      for (int64_t e = 0; e < h * w; ++e)
        plane[e] = 0;
      for (int64_t ch = 0; ch < c; ++ch)
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t s = 0; s < 3; ++s) {
            const float f = weight[((o * c + ch) * 3 + r) * 3 + s];
            for (int64_t i = std::max<int64_t>(0, 1 - r); i < std::min<int64_t>(h, h + 1 - r); ++i) {
              const float* row = x + ((b * c + ch) * h + i + r - 1) * w + s - 1;
              float* out = plane + i * w;
              for (int64_t j = std::max<int64_t>(0, 1 - s); j < std::min<int64_t>(w, w + 1 - s); ++j)
                out[j] += row[j] * f;
            }
          }
    }
}
