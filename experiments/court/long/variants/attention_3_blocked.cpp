// Four rows of Q at a time: each row of K and V is read once for all of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

constexpr int kRows = 4;
constexpr int kLanes = 16;

static float dot(const float* a, const float* b, int64_t d) {
  float lanes[kLanes] = {};
  int64_t e = 0;
  for (; e + kLanes <= d; e += kLanes)
    for (int l = 0; l < kLanes; ++l)
      lanes[l] += a[e + l] * b[e + l];
  float sum = 0;
  for (; e < d; ++e)
    sum += a[e] * b[e];
  for (int l = 0; l < kLanes; ++l)
    sum += lanes[l];
  return sum;
}

void attention(const float* q, const float* k, const float* v, float* o, int64_t heads, int64_t queries, int64_t keys,
               int64_t d) {
  const float scale = 1.0f / std::sqrt(float(d));
  std::vector<float> p(kRows * keys), sums(kRows * d);
  for (int64_t b = 0; b < heads; ++b)
    for (int64_t i = 0; i < queries; i += kRows) {
      const int64_t rows = std::min<int64_t>(kRows, queries - i);
      float largest[kRows], total[kRows] = {};
      std::fill(largest, largest + kRows, -INFINITY);
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t r = 0; r < rows; ++r) {
          p[r * keys + j] = scale * dot(q + (b * queries + i + r) * d, k + (b * keys + j) * d, d);
          largest[r] = std::max(largest[r], p[r * keys + j]);
        }
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t r = 0; r < rows; ++r) {
          const float weight = std::exp(p[r * keys + j] - largest[r]);
          total[r] += weight;
          for (int64_t e = 0; e < d; ++e)
            sums[r * d + e] += weight * v[(b * keys + j) * d + e];
        }
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = 0; e < d; ++e)
          o[(b * queries + i + r) * d + e] = sums[r * d + e] / total[r];
    }
}
