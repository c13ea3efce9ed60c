// harness/evaluate/judge/signed_rank.cpp - exact tables by recursion, bounds as order statistics of the Walsh averages.
#include "harness/evaluate/judge/signed_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>

#include "harness/core/error.h"

namespace apo {
namespace {

int pairs(int n) {
  return n * (n + 1) / 2;
}

// tail[w] = P(W+ >= w) for w = 0 .. pairs(n) + 1. Rank j is positive with probability 1/2, so adding it maps
// p[q] to (p[q] + p[q - j]) / 2.
std::vector<double> compute_tail(int n) {
  std::vector<double> probability(static_cast<std::size_t>(pairs(n)) + 1, 0.0);
  probability[0] = 1;
  for (int rank = 1; rank <= n; ++rank) {
    const auto step = static_cast<std::size_t>(rank);
    for (auto q = static_cast<std::size_t>(pairs(rank)); q >= step; --q) {
      probability[q] = 0.5 * (probability[q] + probability[q - step]);
    }
    for (std::size_t q = 0; q < step; ++q) {
      probability[q] *= 0.5;
    }
  }
  std::vector<double> tail(probability.size() + 1, 0.0);
  for (std::size_t q = probability.size(); q-- > 0;) {
    tail[q] = tail[q + 1] + probability[q];
  }
  return tail;
}

const std::vector<double>& tail_table(int n) {
  static std::array<std::once_flag, kMaxSignedRank + 1> computed;
  static std::array<std::vector<double>, kMaxSignedRank + 1> tables;
  APO_CHECK(n >= 1 && n <= kMaxSignedRank);
  const auto index = static_cast<std::size_t>(n);
  std::call_once(computed.at(index), [&] { tables.at(index) = compute_tail(n); });
  return tables.at(index);
}

}  // namespace

double signed_rank_tail(int n, int w) {
  const std::vector<double>& tail = tail_table(n);
  return tail[static_cast<std::size_t>(std::clamp(w, 0, pairs(n) + 1))];
}

int signed_rank_critical(int n, double alpha) {
  const std::vector<double>& tail = tail_table(n);
  const auto found = std::lower_bound(tail.begin(), tail.end() - 1, alpha,
                                      [](double probability, double level) { return probability > level; });
  return static_cast<int>(found - tail.begin());
}

WalshAverages::WalshAverages(std::span<const double> effects) : n_(static_cast<int>(effects.size())) {
  if (effects.empty() || effects.size() > static_cast<std::size_t>(kMaxSignedRank)) {
    throw UserError(fmt::format("an interval needs 1 to {} effects, not {}", kMaxSignedRank, effects.size()));
  }
  if (!std::all_of(effects.begin(), effects.end(), [](double effect) { return std::isfinite(effect); })) {
    throw UserError("an effect is not a finite number", "its round was not measured properly: measure it again");
  }
  sorted_.reserve(static_cast<std::size_t>(pairs(n_)));
  for (std::size_t i = 0; i < effects.size(); ++i) {
    for (std::size_t j = i; j < effects.size(); ++j) {
      sorted_.push_back(0.5 * (effects[i] + effects[j]));
    }
  }
  std::sort(sorted_.begin(), sorted_.end());
}

double WalshAverages::hodges_lehmann() const {
  const std::size_t half = sorted_.size() / 2;
  return sorted_.size() % 2 == 1 ? sorted_[half] : 0.5 * (sorted_[half - 1] + sorted_[half]);
}

double WalshAverages::lower(double alpha) const {
  const int k = pairs(n_) - signed_rank_critical(n_, alpha) + 1;
  return k < 1 ? -std::numeric_limits<double>::infinity() : sorted_[static_cast<std::size_t>(k - 1)];
}

double WalshAverages::upper(double alpha) const {
  const int k = signed_rank_critical(n_, alpha);
  return k > pairs(n_) ? std::numeric_limits<double>::infinity() : sorted_[static_cast<std::size_t>(k - 1)];
}

// W+ is the number of positive Walsh averages, W- that of negative ones (Tukey's identity).
double WalshAverages::two_sided_p() const {
  const auto not_positive = std::upper_bound(sorted_.begin(), sorted_.end(), 0.0);
  const auto negative = std::lower_bound(sorted_.begin(), sorted_.end(), 0.0);
  const auto larger = std::max(sorted_.end() - not_positive, negative - sorted_.begin());
  return std::min(1.0, 2 * signed_rank_tail(n_, static_cast<int>(larger)));
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) {
    return 0;
  }
  // Sorted first, so that the same values in another order give the same bits.
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  double squares = 0;
  for (const double value : sorted) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(sorted.size() - 1));
}

double median(std::vector<double> values) {
  APO_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace apo
