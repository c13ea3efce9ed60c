// apo:variant    matmul_bf16/lanes
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     matmul_bf16/simple
// apo:idea       Each sum in sixteen lanes, which the compiler keeps in vector registers, and four columns at once.
// apo:predict    4x..20x over parent: one chain of additions becomes 64 that do not wait for each other.
#include <cstdint>

#include "bf16.h"

namespace {

constexpr int kLanes = 16;
constexpr int kColumns = 4;

template <int kWide>
void columns(const uint16_t* __restrict a, const uint16_t* __restrict b, float* __restrict c, int64_t K) {
  float sums[kWide][kLanes] = {};
  const int64_t whole = K / kLanes * kLanes;
  for (int64_t k = 0; k < whole; k += kLanes) {
    for (int n = 0; n < kWide; ++n) {
      for (int i = 0; i < kLanes; ++i) {
        sums[n][i] += load(a[k + i]) * load(b[n * K + k + i]);
      }
    }
  }
  for (int n = 0; n < kWide; ++n) {
    float sum = 0;
    for (const float lane : sums[n]) {
      sum += lane;
    }
    for (int64_t k = whole; k < K; ++k) {
      sum += load(a[k]) * load(b[n * K + k]);
    }
    c[n] = sum;
  }
}

}  // namespace

void matmul_bf16(const uint16_t* a, const uint16_t* b, float* c, int64_t M, int64_t N, int64_t K) {
  for (int64_t m = 0; m < M; ++m) {
    int64_t n = 0;
    for (; n + kColumns <= N; n += kColumns) {
      columns<kColumns>(a + m * K, b + n * K, c + m * N + n, K);
    }
    for (; n < N; ++n) {
      columns<1>(a + m * K, b + n * K, c + m * N + n, K);
    }
  }
}
