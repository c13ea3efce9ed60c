// harness/core/applications/declared_application.cpp - metrics by their role.
#include "harness/core/applications/declared_application.h"

#include <algorithm>
#include <iterator>

#include "harness/core/error.h"

namespace apo {

const ApplicationMetric& DeclaredApplication::speed() const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [](const ApplicationMetric& one) { return one.role == MetricRole::speed; });
  APO_CHECK(found != metrics.end());
  return *found;
}

std::vector<ApplicationMetric> DeclaredApplication::qualities() const {
  std::vector<ApplicationMetric> found;
  std::copy_if(metrics.begin(), metrics.end(), std::back_inserter(found),
               [](const ApplicationMetric& one) { return one.role == MetricRole::quality; });
  return found;
}

}  // namespace apo
