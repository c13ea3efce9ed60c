// kernels/gradients/lse_backward_scores.h - masks, weights and log-sum-exps of the family lse_backward.
#include <atomic>
#include <thread>
#include <vector>

struct Mask {
  int64_t causal, segments;
  const int64_t *q_position, *k_position, *q_segment, *k_segment;

  bool hides(int64_t i, int64_t j) const {
    return (causal && k_position[j] > q_position[i]) || (segments && k_segment[j] != q_segment[i]);
  }
};

// d lse / d score, with the score before the cap: exp(capped - lse) times the slope of the cap.
template <class Real>
Real weight_of(Real scale, const Real* q, const Real* k, int64_t D, int64_t cap, Real lse) {
  Real product = 0;
  for (int64_t d = 0; d < D; ++d) {
    product = fma(q[d], k[d], product);
  }
  const Real score = scale * product;
  if (cap == 0) {
    return exp(score - lse);
  }
  const Real bent = tanh(score / Real(cap));
  return exp(Real(cap) * bent - lse) * (Real(1) - bent * bent);
}

// work(0) to work(count - 1) on all CPUs.
template <class Work>
void in_parallel(int64_t count, Work work) {
  std::atomic<int64_t> next = 0;
  const auto take = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::vector<std::thread> threads(count < 64 ? 0 : std::thread::hardware_concurrency() - 1);
  for (std::thread& thread : threads) {
    thread = std::thread(take);
  }
  take();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// In fp32, sixteen products at a time: an lse is an input, whatever its last bits are. 0 where every key is masked.
inline double log_sum_exp(const float* q, const float* k, int64_t i, int64_t keys, int64_t D, float scale, int64_t cap,
                          const Mask& mask) {
  double largest = -1e300, sum = 0;
  for (int64_t j = 0; j < keys; ++j, k += D) {
    if (mask.hides(i, j)) {
      continue;
    }
    float lanes[16] = {};
    int64_t d = 0;
    for (; d + 16 <= D; d += 16) {
      for (int lane = 0; lane < 16; ++lane) {
        lanes[lane] += q[d + lane] * k[d + lane];
      }
    }
    for (; d < D; ++d) {
      lanes[d % 16] += q[d] * k[d];
    }
    double score = 0;
    for (const float lane : lanes) {
      score += lane;
    }
    score *= scale;
    score = cap == 0 ? score : cap * std::tanh(score / cap);
    sum = score > largest ? sum * std::exp(largest - score) + 1 : sum + std::exp(score - largest);
    largest = score > largest ? score : largest;
  }
  return sum > 0 ? largest + std::log(sum) : 0;
}
