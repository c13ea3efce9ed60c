// harness/evaluate/judge/guard.h - rejects a mean gain that one workload or the slowest calls pay for.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// Returns the objection to an accept as one sentence, else "". `rounds` are the valid ones of both stages, all with the
// same workloads.
// - Workload: its lower bound has to be above -guard_margin (non-inferiority; as every workload has to pass, no
//   correction for their number is needed).
// - Tail: the estimated ratio of 90th percentiles must not be below -guard_margin. It is the estimate, not its bound,
//   because a bound would refuse a tenth of the true gains on a machine with bursts.
std::string guard_failure(const std::vector<Round>& rounds, const JudgePreset& preset);

}  // namespace apo
