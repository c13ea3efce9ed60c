// harness/evaluate/judge/selftest_summary.h - the rates, quantiles and claims of a selftest's judgements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/records/selftest_record.h"
#include "harness/evaluate/judge/rates.h"

namespace apo {

// Judgements of one kernel with one truth (and, for the kind `layout`, one layout), or of all kernels together.
struct SelftestRate {
  SelftestKind kind = SelftestKind::aa;
  Configuration incumbent;  // empty for all together
  std::string workload;
  double truth = 0;
  bool random_layout = true;
  int comparisons = 0;
  int accepted = 0;
  int regressions = 0;
  int covered = 0;             // the truth was inside the interval that was shown
  double accepted_upper = 1;   // one-sided 95 % bound of the rate of accepts
  RateBounds accepted_bounds;  // two-sided, 95 %
  double median_size = 0;      // of the apparent effects, without their sign
  double p90_size = 0;
  double p99_size = 0;
  double largest_size = 0;
  double mean_claim = 0;  // of the accepted; NaN when there is none
  double effect_sd = 0;   // of the apparent effects over the judgements
  double within_sd = 0;   // what the spread of the rounds within the judgements makes of it: more than that is a bias
  double mean_seconds = 0;
};

// Rows in the order of first appearance.
std::vector<SelftestRate> selftest_rates(std::span<const SelftestComparison> comparisons, SelftestKind kind);
// Sums all rows of the kind; comparisons is 0 when there is none.
SelftestRate selftest_total(std::span<const SelftestComparison> comparisons, SelftestKind kind);

// Results for a true gain and a true loss of 1 % on one machine.
struct PositiveControl {
  int gains = 0;  // judged
  int accepted = 0;
  int losses = 0;  // judged
  int called_slower = 0;
  bool holds() const { return accepted > 0 && called_slower > 0; }
};
PositiveControl positive_control(std::span<const SelftestComparison> comparisons);

}  // namespace apo
