// apo:family   attention
// apo:idea     Attention forward: softmax(Q K^T / sqrt(d)) V of each head.
// apo:axis     heads 1..64
// apo:axis     queries 1..8192
// apo:axis     keys 1..8192
// apo:axis     d 1..256
// apo:input    q f32[heads,queries,d] normal
// apo:input    k f32[heads,keys,d] normal
// apo:input    v f32[heads,keys,d] normal
// apo:output   o f32[heads,queries,d]
// apo:workload t2048 production heads=8 queries=2048 keys=2048 d=64
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

template <class Real>
void reference(int64_t heads, int64_t queries, int64_t keys, int64_t d, const Real* q, const Real* k, const Real* v,
               Real* o) {
  const Real scale = Real(1.0 / std::sqrt(double(d)));
  std::vector<Real> p(keys);
  for (int64_t b = 0; b < heads; ++b) {
    for (int64_t i = 0; i < queries; ++i) {
      Real largest = -INFINITY;
      for (int64_t j = 0; j < keys; ++j) {
        Real s = 0;
        for (int64_t e = 0; e < d; ++e) {
          s += q[(b * queries + i) * d + e] * k[(b * keys + j) * d + e];
        }
        p[j] = s * scale;
        if (p[j] > largest) {
          largest = p[j];
        }
      }
      Real sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        p[j] = exp(p[j] - largest);
        sum += p[j];
      }
      for (int64_t e = 0; e < d; ++e) {
        Real acc = 0;
        for (int64_t j = 0; j < keys; ++j) {
          acc += p[j] * v[(b * keys + j) * d + e];
        }
        o[(b * queries + i) * d + e] = acc / sum;
      }
    }
  }
}
