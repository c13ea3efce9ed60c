// apo:variant    lse_backward/materialised
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       All weights of all heads lie in memory; dq and dk are two further passes, each sum one scalar after the other.
// apo:scratch    weights 4*heads*group*S*keys
#include "scores.h"

void lse_backward(const lse_backward_args& a) {
  const int64_t rows = a.group * a.S, D = a.D;
  auto* weights = static_cast<float*>(a.weights);
  for (int64_t row = 0; row < a.heads * rows; ++row) {
    const uint16_t *q = a.q + row * D, *k = a.k + row / rows * a.keys * D;
    for (int64_t j = 0; j < a.keys; ++j) {
      float product = 0;
      for (int64_t d = 0; d < D; ++d) {
        product += load(q[d]) * load(k[j * D + d]);
      }
      weights[row * a.keys + j] = is_hidden(a, row % a.S, j) ? 0 : weight_of(a, product, a.lse[row]);
    }
  }
  for (int64_t row = 0; row < a.heads * rows; ++row) {
    const uint16_t* k = a.k + row / rows * a.keys * D;
    for (int64_t d = 0; d < D; ++d) {
      float sum = 0;
      for (int64_t j = 0; j < a.keys; ++j) {
        sum += weights[row * a.keys + j] * load(k[j * D + d]);
      }
      a.dq[row * D + d] = store(a.scale * a.dlse[row] * sum);
    }
  }
  for (int64_t key = 0; key < a.heads * a.keys; ++key) {
    const int64_t first = key / a.keys * rows, j = key % a.keys;
    for (int64_t d = 0; d < D; ++d) {
      float sum = 0;
      for (int64_t row = first; row < first + rows; ++row) {
        sum += weights[row * a.keys + j] * a.dlse[row] * load(a.q[row * D + d]);
      }
      a.dk[key * D + d] = store(a.scale * sum);
    }
  }
}
