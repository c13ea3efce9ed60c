// apo:family   conv2d
// apo:idea     A 3x3 convolution of images with padding 1, NCHW.
// apo:axis     n 1..64
// apo:axis     c 1..1024
// apo:axis     h 1..512
// apo:axis     w 1..512
// apo:axis     k 1..1024
// apo:input    x f32[n,c,h,w] normal
// apo:input    weight f32[k,c,3,3] normal
// apo:output   y f32[n,k,h,w]
// apo:workload resnet production n=1 c=64 h=112 w=112 k=64
#pragma once
#include <cstdint>

template <class Real>
void reference(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, const Real* x, const Real* weight, Real* y) {
  for (int64_t b = 0; b < n; ++b) {
    for (int64_t o = 0; o < k; ++o) {
      for (int64_t i = 0; i < h; ++i) {
        for (int64_t j = 0; j < w; ++j) {
          Real sum = 0;
          for (int64_t ch = 0; ch < c; ++ch) {
            for (int64_t r = 0; r < 3; ++r) {
              for (int64_t s = 0; s < 3; ++s) {
                const int64_t yy = i + r - 1;
                const int64_t xx = j + s - 1;
                if (yy >= 0 && yy < h && xx >= 0 && xx < w) {
                  sum += x[((b * c + ch) * h + yy) * w + xx] * weight[((o * c + ch) * 3 + r) * 3 + s];
                }
              }
            }
          }
          y[((b * k + o) * h + i) * w + j] = sum;
        }
      }
    }
  }
}
