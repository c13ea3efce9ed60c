// harness/evaluate/judge/rates.cpp - Clopper-Pearson bounds by bisection of the binomial tail.
#include "harness/evaluate/judge/rates.h"

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"

namespace apo {
namespace {

// P(X <= hits) of `trials` trials at `rate`, 0 < rate < 1.
double at_most(int hits, int trials, double rate) {
  double sum = 0;
  for (int i = 0; i <= hits; ++i) {
    const double ways = std::lgamma(trials + 1.0) - std::lgamma(i + 1.0) - std::lgamma(trials - i + 1.0);
    sum += std::exp(ways + i * std::log(rate) + (trials - i) * std::log1p(-rate));
  }
  return std::min(1.0, sum);
}

// The rate at which the decreasing P(X <= hits) comes to `probability`.
double rate_with(int hits, int trials, double probability) {
  double low = 0;
  double high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (at_most(hits, trials, middle) > probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double rate_upper_bound(int hits, int trials, double confidence) {
  APO_CHECK(trials > 0 && hits >= 0 && hits <= trials && confidence > 0 && confidence < 1);
  return hits == trials ? 1 : rate_with(hits, trials, 1 - confidence);
}

RateBounds rate_bounds(int hits, int trials, double confidence) {
  const double each = 0.5 * (1 + confidence);
  return {.lower = 1 - rate_upper_bound(trials - hits, trials, each), .upper = rate_upper_bound(hits, trials, each)};
}

}  // namespace apo
