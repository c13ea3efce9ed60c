#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>
// Several sums side by side, and V by rows.
void attention(const float* q, const float* k, const float* v, float* o, int64_t heads, int64_t queries, int64_t keys,
               int64_t d) {
  const float scale = 1.0f / std::sqrt(float(d));
  std::vector<float> p(keys), acc(d);
  for (int64_t b = 0; b < heads; ++b)
    for (int64_t i = 0; i < queries; ++i) {
      const float* qi = q + (b * queries + i) * d;
      float largest = -INFINITY;
      for (int64_t j = 0; j < keys; ++j) {
        const float* kj = k + (b * keys + j) * d;
        float s[16] = {};
        int64_t e = 0;
        for (; e + 16 <= d; e += 16)
          for (int l = 0; l < 16; ++l)
            s[l] += qi[e + l] * kj[e + l];
        float all = 0;
        for (; e < d; ++e)
          all += qi[e] * kj[e];
        for (int l = 0; l < 16; ++l)
          all += s[l];
        p[j] = all * scale;
        largest = std::max(largest, p[j]);
      }
      float sum = 0;
      std::fill(acc.begin(), acc.end(), 0.0f);
      float* a = acc.data();
      for (int64_t j = 0; j < keys; ++j) {
        const float w = std::exp(p[j] - largest);
        sum += w;
        const float* vj = v + (b * keys + j) * d;
        for (int64_t e = 0; e < d; ++e)
          a[e] += w * vj[e];
      }
      for (int64_t e = 0; e < d; ++e)
        o[(b * queries + i) * d + e] = a[e] / sum;
    }
}
