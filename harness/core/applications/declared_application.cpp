// harness/core/applications/declared_application.cpp - the words of roles, and metrics by their role.
#include "harness/core/applications/declared_application.h"

#include <algorithm>
#include <iterator>

#include "harness/core/error.h"
#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<MetricRole, 2> kMetricRoles = {{{MetricRole::speed, "speed"}, {MetricRole::quality, "quality"}}};

}  // namespace

std::string_view to_string(MetricRole role) {
  return word_of(kMetricRoles, role);
}

std::optional<MetricRole> metric_role_from(std::string_view word) {
  return value_of(kMetricRoles, word);
}

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
