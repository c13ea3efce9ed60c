#include <algorithm>
#include <cstdint>
// Rows, with the nine taps of a channel together and four outputs at a time.
static void one_row(const float* x, const float* weight, float* out, int64_t c, int64_t h, int64_t w, int64_t i,
                    int64_t stride, int count) {
  for (int o = 0; o < count; ++o)
    for (int64_t j = 0; j < w; ++j)
      out[o * stride + j] = 0;
  for (int64_t ch = 0; ch < c; ++ch)
    for (int64_t r = std::max<int64_t>(0, 1 - i); r < std::min<int64_t>(3, h + 1 - i); ++r) {
      const float* row = x + (ch * h + i + r - 1) * w;
      for (int o = 0; o < count; ++o) {
        const float* f = weight + ((o * c + ch) * 3 + r) * 3;
        const float f0 = f[0], f1 = f[1], f2 = f[2];
        float* at = out + o * stride;
        if (w == 1) {
          at[0] += row[0] * f1;
          continue;
        }
        at[0] += row[0] * f1 + row[1] * f2;
        for (int64_t j = 1; j + 1 < w; ++j)
          at[j] += row[j - 1] * f0 + row[j] * f1 + row[j + 1] * f2;
        at[w - 1] += row[w - 2] * f0 + row[w - 1] * f1;
      }
    }
}
void conv2d(const float* x, const float* weight, float* y, int64_t n, int64_t c, int64_t h, int64_t w, int64_t k) {
  for (int64_t b = 0; b < n; ++b)
    for (int64_t o = 0; o < k; o += 4)
      for (int64_t i = 0; i < h; ++i)
        one_row(x + b * c * h * w, weight + o * c * 9, y + ((b * k + o) * h + i) * w, c, h, w, i, h * w,
                static_cast<int>(std::min<int64_t>(4, k - o)));
}
