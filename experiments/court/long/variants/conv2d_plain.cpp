#include <cstdint>
void conv2d(const float* x, const float* weight, float* y, int64_t n, int64_t c, int64_t h, int64_t w, int64_t k) {
  for (int64_t b = 0; b < n; ++b)
    for (int64_t o = 0; o < k; ++o)
      for (int64_t i = 0; i < h; ++i)
        for (int64_t j = 0; j < w; ++j) {
          float sum = 0;
          for (int64_t ch = 0; ch < c; ++ch)
            for (int64_t r = 0; r < 3; ++r)
              for (int64_t s = 0; s < 3; ++s) {
                const int64_t yy = i + r - 1, xx = j + s - 1;
                if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                  sum += x[((b * c + ch) * h + yy) * w + xx] * weight[((o * c + ch) * 3 + r) * 3 + s];
              }
          y[((b * k + o) * h + i) * w + j] = sum;
        }
}
