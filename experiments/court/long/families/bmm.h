// apo:family   bmm
// apo:idea     Products of pairs of matrices, C = A B.
// apo:axis     b 1..64
// apo:axis     m 1..4096
// apo:axis     n 1..4096
// apo:axis     k 1..4096
// apo:input    x f32[b,m,k] normal
// apo:input    w f32[b,k,n] normal
// apo:output   y f32[b,m,n]
// apo:workload b8_512 production b=8 m=512 n=512 k=512
#pragma once
#include <cstdint>

template <class Real>
void reference(int64_t b, int64_t m, int64_t n, int64_t k, const Real* x, const Real* w, Real* y) {
  for (int64_t i = 0; i < b; ++i) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        Real sum = 0;
        for (int64_t e = 0; e < k; ++e) {
          sum += x[(i * m + r) * k + e] * w[(i * k + e) * n + c];
        }
        y[(i * m + r) * n + c] = sum;
      }
    }
  }
}
