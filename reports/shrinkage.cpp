// reports/shrinkage.cpp - computes the shrinkage factor from one interval.
#include "reports/shrinkage.h"

#include <algorithm>
#include <cmath>

#include "harness/core/normal.h"

namespace apo::report {

double shrunken_effect(const Judgement& judgement) {
  const double width = judgement.upper - judgement.lower;
  const double error = 0.5 * width / normal_quantile(0.5 * (1 + judgement.confidence));
  const double ratio = error / judgement.effect;
  if (judgement.effect == 0 && std::isfinite(error)) {
    return 0;
  }
  return std::isfinite(ratio) ? judgement.effect * std::max(0.0, 1 - ratio * ratio) : std::nan("");
}

}  // namespace apo::report
