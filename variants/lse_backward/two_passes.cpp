// apo:variant    lse_backward/two_passes
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  streamed-scores
// apo:parent     lse_backward/materialised
// apo:idea       dq along the queries, dk along the keys, in vectors; each pass computes the weights for itself and keeps none.
// apo:predict    4x..40x over parent: vectors of 8 in place of scalars, against 4 products of matrices in place of 3.
#include "scores.h"

void lse_backward(const lse_backward_args& a) {
  const int64_t rows = a.group * a.S, D = a.D;
  const std::vector<float> q = as_floats(a.q, a.heads * rows * D), k = as_floats(a.k, a.heads * a.keys * D);
  std::vector<float> sum(static_cast<size_t>(D));
  for (int64_t row = 0; row < a.heads * rows; ++row) {
    const float* of_head = k.data() + row / rows * a.keys * D;
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t j = 0; j < seen_keys(a, row % a.S); ++j) {
      if (!is_hidden(a, row % a.S, j)) {
        const float* key = of_head + j * D;
        add_scaled(sum.data(), weight_of(a, dot(q.data() + row * D, key, D), a.lse[row]), key, D);
      }
    }
    store_scaled(sum.data(), a.scale * a.dlse[row], D, a.dq + row * D);
  }
  for (int64_t key = 0; key < a.heads * a.keys; ++key) {
    const int64_t first = key / a.keys * rows, j = key % a.keys;
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t row = first; row < first + rows; ++row) {
      if (!is_hidden(a, row % a.S, j)) {
        const float* query = q.data() + row * D;
        const float weight = weight_of(a, dot(query, k.data() + key * D, D), a.lse[row]);
        add_scaled(sum.data(), weight * a.dlse[row], query, D);
      }
    }
    store_scaled(sum.data(), a.scale, D, a.dk + key * D);
  }
}
