// harness/evaluate/sentinel.h - runs A/A rounds, whose arms are the same, to check machine and judge.
#pragma once

#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

struct SentinelResult {
  SentinelCheck check;
  std::vector<Round> rounds;
  double lower = 0;  // 98 % interval of the effect
  double upper = 0;
  double seconds = 0;
};
// Throws EnvironmentError when the configuration does not run.
SentinelResult run_sentinel(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                            int index, const std::vector<double>& earlier_effects, Observer& observer);

// Runs rounds with identical arms on the first workload of the plan in `processes` fresh processes, nested so that the
// share of each level shows. Throws EnvironmentError when the configuration does not run.
std::vector<Round> run_noise_study(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, Observer& observer);

}  // namespace apo
