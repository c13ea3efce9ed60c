// harness/profile/summary.cpp - computes order statistics of repeated measurements.
#include "harness/profile/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace apo {
namespace {

// Linear interpolation between order statistics (Hyndman & Fan 1996, type 7).
double quantile(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// P(Binomial(n, p) = 0..n); n is at most 1000 and p no extreme, so logs keep every term in range.
std::vector<double> binomial(std::size_t n, double p) {
  const auto size = static_cast<double>(n);
  std::vector<double> probabilities;
  for (std::size_t k = 0; k <= n; ++k) {
    const auto count = static_cast<double>(k);
    const double log_choose = std::lgamma(size + 1) - std::lgamma(count + 1) - std::lgamma(size - count + 1);
    probabilities.push_back(std::exp(log_choose + count * std::log(p) + (size - count) * std::log1p(-p)));
  }
  return probabilities;
}

// Finite values in ascending order. Beyond a thousand, more say nothing new about a centre.
std::vector<double> prepared(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  values.resize(std::min<std::size_t>(values.size(), 1000));
  std::sort(values.begin(), values.end());
  return values;
}

// With X ~ Binomial(n, p) samples below the quantile, x_(k) lies above it with P(X < k): each end may err by 2.5 %.
QuantileInterval interval_of(const std::vector<double>& sorted, double p) {
  constexpr double kTail = 0.025 + 1e-12;
  const std::size_t n = sorted.size();
  const std::vector<double> probabilities = binomial(n, p);
  std::size_t lower = 0;  // index of the lower end
  double below = probabilities[0];
  while (lower + 1 < n && below + probabilities[lower + 1] <= kTail) {
    below += probabilities[++lower];
  }
  std::size_t upper = n - 1;
  double above = probabilities[n];
  while (upper > 0 && above + probabilities[upper] <= kTail) {
    above += probabilities[upper--];
  }
  const double value = quantile(sorted, p);
  return {.count = static_cast<int>(n),
          .value = value,
          .lower = std::min(value, sorted[lower]),
          .upper = std::max(value, sorted[upper])};
}

}  // namespace

QuantileInterval quantile_interval(std::vector<double> values, double p) {
  const std::vector<double> sorted = prepared(std::move(values));
  return sorted.empty() ? QuantileInterval{} : interval_of(sorted, p);
}

SampleSummary summarise(std::vector<double> values) {
  const std::vector<double> sorted = prepared(std::move(values));
  if (sorted.empty()) {
    return {};
  }
  const QuantileInterval median = interval_of(sorted, 0.5);
  std::vector<double> deviations;
  for (const double value : sorted) {
    deviations.push_back(std::fabs(value - median.value));
  }
  std::sort(deviations.begin(), deviations.end());
  return {.count = median.count,
          .median = median.value,
          .lower = median.lower,
          .upper = median.upper,
          .mad_sigma = 1.4826 * quantile(deviations, 0.5),
          .p10 = quantile(sorted, 0.1),
          .p90 = quantile(sorted, 0.9)};
}

}  // namespace apo
