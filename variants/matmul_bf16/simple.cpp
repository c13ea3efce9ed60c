// apo:variant    matmul_bf16/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One sum after the other, as anyone would write it first.
#include <cstdint>

#include "bf16.h"

void matmul_bf16(const uint16_t* a, const uint16_t* b, float* c, int64_t M, int64_t N, int64_t K) {
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += load(a[m * K + k]) * load(b[n * K + k]);
      }
      c[m * N + n] = sum;
    }
  }
}
