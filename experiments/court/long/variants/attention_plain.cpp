#include <cmath>
#include <cstdint>
#include <vector>
void attention(const float* q, const float* k, const float* v, float* o, int64_t heads, int64_t queries, int64_t keys,
               int64_t d) {
  const float scale = 1.0f / std::sqrt(float(d));
  std::vector<float> p(keys);
  for (int64_t b = 0; b < heads; ++b)
    for (int64_t i = 0; i < queries; ++i) {
      float largest = -INFINITY;
      for (int64_t j = 0; j < keys; ++j) {
        float s = 0;
        for (int64_t e = 0; e < d; ++e)
          s += q[(b * queries + i) * d + e] * k[(b * keys + j) * d + e];
        p[j] = s * scale;
        largest = std::fmax(largest, p[j]);
      }
      float sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        p[j] = std::exp(p[j] - largest);
        sum += p[j];
      }
      for (int64_t e = 0; e < d; ++e) {
        float acc = 0;
        for (int64_t j = 0; j < keys; ++j)
          acc += p[j] * v[(b * keys + j) * d + e];
        o[(b * queries + i) * d + e] = acc / sum;
      }
    }
}
