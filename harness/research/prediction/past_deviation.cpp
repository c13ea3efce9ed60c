// harness/research/prediction/past_deviation.cpp - another machine, workload or cache policy, each with its deviation.
#include "harness/research/prediction/past_deviation.h"

#include <cmath>

namespace apo {
namespace {

// Standard deviations in logs, which add in squares. Chosen so that on the journals under experiments/ the bands hold
// four of five ('apo research --replay').
constexpr double kAgain = 0.01;         // a judgement from one day to the next
constexpr double kOtherMachine = 0.02;  // of the same model
constexpr double kOtherModel = 0.1;     // of the same instruction set
constexpr double kOtherIsa = 0.35;
constexpr double kOtherWorkload = 0.2;  // of the same class
constexpr double kOtherClass = 0.5;
constexpr double kOtherCaches = 0.2;  // cold against warm

// The interval's half-width is 2.33 standard deviations (98 %).
double own_sd(const PastResult& past) {
  return 0.5 * (past.upper - past.lower) / 2.33;
}

bool same_caches(const ResearchInputs& inputs, const PastResult& past) {
  return !inputs.cache || !past.cache || *inputs.cache == *past.cache;
}

}  // namespace

bool is_here(const ResearchInputs& inputs, const PastResult& past) {
  return same_caches(inputs, past) && past.machine == inputs.machine && past.workload_class == inputs.workload_class &&
         (past.workload.empty() || past.workload == inputs.diagnosis.profile.workload);
}

double deviation_here(const ResearchInputs& inputs, const PastResult& past) {
  double deviation = std::hypot(own_sd(past), kAgain);
  if (past.machine != inputs.machine) {
    deviation = std::hypot(deviation, past.model == inputs.model ? kOtherMachine
                                      : past.isa == inputs.isa   ? kOtherModel
                                                                 : kOtherIsa);
  }
  if (past.workload_class != inputs.workload_class) {
    deviation = std::hypot(deviation, kOtherClass);
  } else if (!past.workload.empty() && past.workload != inputs.diagnosis.profile.workload) {
    deviation = std::hypot(deviation, kOtherWorkload);
  }
  return same_caches(inputs, past) ? deviation : std::hypot(deviation, kOtherCaches);
}

}  // namespace apo
