// harness/evaluate/judge/selftest_summary.cpp - groups the judgements of a selftest and counts them.
#include "harness/evaluate/judge/selftest_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr double kConfidence = 0.95;

using Group = std::vector<const SelftestComparison*>;

// Nearest rank: ceil(q n).
double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void summarise_sizes(const Group& group, SelftestRate& rate) {
  std::vector<double> sizes;
  std::vector<double> effects;
  double within = 0;
  for (const SelftestComparison* one : group) {
    sizes.push_back(std::fabs(one->effect - one->truth));
    effects.push_back(one->effect);
    const double sd = standard_deviation(one->effects);
    // The signed-rank estimate needs pi/3 times the rounds of the mean.
    within += std::numbers::pi / 3 * sd * sd / std::max(1, one->rounds);
  }
  std::sort(sizes.begin(), sizes.end());
  rate.median_size = quantile(sizes, 0.5);
  rate.p90_size = quantile(sizes, 0.9);
  rate.p99_size = quantile(sizes, 0.99);
  rate.largest_size = sizes.back();
  rate.effect_sd = standard_deviation(effects);
  rate.within_sd = std::sqrt(within / static_cast<double>(group.size()));
}

SelftestRate rate_of(const Group& group) {
  SelftestRate rate{.kind = group.front()->kind,
                    .incumbent = group.front()->incumbent,
                    .workload = group.front()->workload,
                    .truth = group.front()->truth,
                    .random_layout = group.front()->random_layout,
                    .comparisons = static_cast<int>(group.size())};
  double claims = 0;
  double seconds = 0;
  for (const SelftestComparison* one : group) {
    const bool accepted = one->verdict == Verdict::accepted;
    rate.accepted += accepted ? 1 : 0;
    rate.regressions += one->reason == Reason::regression ? 1 : 0;
    rate.covered += one->lower <= one->truth && one->truth <= one->upper ? 1 : 0;
    claims += accepted ? one->effect : 0;
    seconds += one->seconds;
  }
  rate.accepted_upper = rate_upper_bound(rate.accepted, rate.comparisons, kConfidence);
  rate.accepted_bounds = rate_bounds(rate.accepted, rate.comparisons, kConfidence);
  rate.mean_claim = rate.accepted > 0 ? claims / rate.accepted : std::numeric_limits<double>::quiet_NaN();
  rate.mean_seconds = seconds / rate.comparisons;
  summarise_sizes(group, rate);
  return rate;
}

bool same_group(const SelftestComparison& a, const SelftestComparison& b) {
  return a.incumbent == b.incumbent && a.candidate == b.candidate && a.workload == b.workload && a.truth == b.truth &&
         a.random_layout == b.random_layout;
}

}  // namespace

std::vector<SelftestRate> selftest_rates(std::span<const SelftestComparison> comparisons, SelftestKind kind) {
  std::vector<Group> groups;
  for (const SelftestComparison& one : comparisons) {
    if (one.kind != kind) {
      continue;
    }
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& other) { return same_group(*other.front(), one); });
    if (group == groups.end()) {
      groups.push_back({&one});
    } else {
      group->push_back(&one);
    }
  }
  std::vector<SelftestRate> rates;
  std::transform(groups.begin(), groups.end(), std::back_inserter(rates), rate_of);
  return rates;
}

SelftestRate selftest_total(std::span<const SelftestComparison> comparisons, SelftestKind kind) {
  Group all;
  for (const SelftestComparison& one : comparisons) {
    if (one.kind == kind) {
      all.push_back(&one);
    }
  }
  if (all.empty()) {
    return {.kind = kind};
  }
  SelftestRate rate = rate_of(all);
  rate.incumbent = {};
  rate.workload.clear();
  return rate;
}

PositiveControl positive_control(std::span<const SelftestComparison> comparisons) {
  PositiveControl control;
  for (const SelftestComparison& one : comparisons) {
    if (one.kind != SelftestKind::power || std::fabs(std::fabs(one.truth) - std::log1p(0.01)) > 1e-4) {
      continue;
    }
    control.gains += one.truth > 0 ? 1 : 0;
    control.accepted += one.truth > 0 && one.verdict == Verdict::accepted ? 1 : 0;
    control.losses += one.truth < 0 ? 1 : 0;
    control.called_slower += one.truth < 0 && one.reason == Reason::regression ? 1 : 0;
  }
  return control;
}

}  // namespace apo
