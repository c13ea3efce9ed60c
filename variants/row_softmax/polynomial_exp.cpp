// apo:variant    row_softmax/polynomial_exp
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     row_softmax/simple
// apo:idea       exp as 2^n times a polynomial, which the compiler vectorises, and one division a row.
// apo:predict    3x..12x over parent: libm's exp is scalar and takes most of the time; a vector holds 8 or 16 floats.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

// 2^(x log2 e): the integer part into the exponent, the fraction f in [-1/2, 1/2] by the Taylor polynomial of 2^f of
// degree 6, whose remainder is below (f ln 2)^7 / 7! = 1.2e-7. Below 2^-126 it gives 0.
inline float exp_of(float x) {
  const float scaled = std::max(x * 1.44269504f, -127.0f);
  const float whole = std::floor(scaled + 0.5f);
  const float f = (scaled - whole) * 0.693147181f;
  float p = 1.0f / 720;
  p = p * f + 1.0f / 120;
  p = p * f + 1.0f / 24;
  p = p * f + 1.0f / 6;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  return std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23) * p;
}

constexpr int kLanes = 16;

}  // namespace

void row_softmax(const float* __restrict x, float* __restrict y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    // In lanes of their own, so that no addition waits for the one before.
    float largest[kLanes];
    float sums[kLanes] = {};
    std::fill(largest, largest + kLanes, x[0]);
    const int64_t whole = cols / kLanes * kLanes;
    for (int64_t c = 0; c < whole; c += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        largest[i] = x[c + i] > largest[i] ? x[c + i] : largest[i];
      }
    }
    for (int64_t c = whole; c < cols; ++c) {
      largest[0] = std::max(largest[0], x[c]);
    }
    const float top = *std::max_element(largest, largest + kLanes);
    for (int64_t c = 0; c < whole; c += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        sums[i] += y[c + i] = exp_of(x[c + i] - top);
      }
    }
    for (int64_t c = whole; c < cols; ++c) {
      sums[0] += y[c] = exp_of(x[c] - top);
    }
    float sum = 0;
    for (const float lane : sums) {
      sum += lane;
    }
    const float scale = 1 / sum;
    for (int64_t c = 0; c < cols; ++c) {
      y[c] *= scale;
    }
  }
}
