// apo:variant    lse_backward/blocked
// apo:target     host
// apo:technique  blocked-rows
// apo:technique  adaptive-threads
// apo:parent     lse_backward/fused
// apo:idea       Blocks of ROWS queries by COLUMNS keys whose weights and sums stay in registers and the first cache; a thread a head.
// apo:predict    1.5x..4x over parent: a key is loaded once for ROWS queries, and two cores share the heads.
// apo:tune       ROWS 8,4,16
// apo:tune       COLUMNS 32,16,64
#include "scores.h"

namespace {

// dq and dk of one head; `q` has dlse q beside q.
class Head {
 public:
  Head(const lse_backward_args& a, int64_t head) : a_(a), rows_(a.group * a.S), first_(head * rows_), head_(head) {}

  void run() {
    k_ = as_floats(a_.k + head_ * a_.keys * a_.D, a_.keys * a_.D);
    to_keys_.assign(k_.size(), 0.0f);
    for (int64_t row = 0; row < rows_; row += ROWS) {
      take_queries(row, std::min<int64_t>(ROWS, rows_ - row));
    }
    store_scaled(to_keys_.data(), a_.scale, a_.keys * a_.D, a_.dk + head_ * a_.keys * a_.D);
  }

 private:
  void take_queries(int64_t row, int64_t count) {
    const int64_t D = a_.D;
    q_ = as_floats(a_.q + (first_ + row) * D, count * D);
    to_queries_.assign(q_.size(), 0.0f);
    for (int64_t j = 0; j < a_.keys; j += COLUMNS) {
      take_keys(row, count, j, std::min<int64_t>(COLUMNS, a_.keys - j));
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first_ + row + i;
      store_scaled(to_queries_.data() + i * D, a_.scale * a_.dlse[at], D, a_.dq + at * D);
    }
  }

  void take_keys(int64_t row, int64_t count, int64_t first_key, int64_t key_count) {
    const int64_t D = a_.D;
    float weights[ROWS][COLUMNS];
    bool any = false;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < key_count; ++j) {
        const bool hidden = is_hidden(a_, (row + i) % a_.S, first_key + j);
        weights[i][j] = hidden ? 0
                               : weight_of(a_, dot(q_.data() + i * D, k_.data() + (first_key + j) * D, D),
                                           a_.lse[first_ + row + i]);
        any = any || !hidden;
      }
    }
    for (int64_t i = 0; any && i < count; ++i) {
      const float dlse = a_.dlse[first_ + row + i];
      for (int64_t j = 0; j < key_count; ++j) {
        const float* key = k_.data() + (first_key + j) * D;
        add_scaled(to_queries_.data() + i * D, weights[i][j], key, D);
        add_scaled(to_keys_.data() + (first_key + j) * D, weights[i][j] * dlse, q_.data() + i * D, D);
      }
    }
  }

  const lse_backward_args& a_;
  int64_t rows_, first_, head_;
  std::vector<float> k_, to_keys_, q_, to_queries_;
};

}  // namespace

void lse_backward(const lse_backward_args& a, int threads) {
#pragma omp parallel for num_threads(std::min <int>(threads, static_cast <int>(a.heads))) schedule(dynamic)
  for (int64_t h = 0; h < a.heads; ++h) {
    Head(a, h).run();
  }
}
