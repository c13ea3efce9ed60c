// harness/evaluate/judge/equivalence.cpp - both tests by the exact signed-rank interval.
#include "harness/evaluate/judge/equivalence.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr int kFewest = 5;           // 2^-5 is below kEquivalenceAlpha
constexpr double kNormal95 = 1.645;  // its quantile at 0.95: the level of a test, and its power

// Normal approximation; the signed-rank test needs pi/3 times the differences of the mean. 0 where it says nothing.
int needed_differences(std::span<const double> differences, double center, double margin) {
  const double distance = std::abs(margin - std::abs(center));
  const double spread = standard_deviation(differences);
  constexpr double kMost = 1e6;
  const double needed = std::numbers::pi / 3 * std::pow(2 * kNormal95 * spread / distance, 2);
  if (!(needed < kMost)) {
    return 0;
  }
  return std::max({kFewest, static_cast<int>(differences.size()) + 1, static_cast<int>(std::ceil(needed))});
}

}  // namespace

Equivalence test_equivalence(std::span<const double> differences, double margin) {
  const WalshAverages averages(differences);
  Equivalence result{.center = averages.hodges_lehmann(),
                     .lower = averages.lower(kEquivalenceAlpha),
                     .upper = averages.upper(kEquivalenceAlpha)};
  result.inside = result.lower > -margin && result.upper < margin;
  result.above = result.lower > margin;
  result.below = result.upper < -margin;
  if (!result.inside && !result.above && !result.below) {
    result.needed = needed_differences(differences, result.center, margin);
  }
  return result;
}

}  // namespace apo
