// harness/core/records/profile.cpp - a metric by its name.
#include "harness/core/records/profile.h"

#include <algorithm>
#include <limits>

namespace apo {

double Profile::metric(const std::string& name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == name; });
  return found == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

}  // namespace apo
