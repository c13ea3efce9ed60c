// harness/evaluate/timing_gate.h - times candidate and incumbent until the judge has seen enough.
#pragma once

#include <vector>

#include "harness/evaluate/plan.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Fills rounds, judgement and the gates "timing" and "confirmation" of an experiment that has passed all others.
// `timed` holds the plan's workloads with both arms built, and with inputs.
void time_experiment(const Evaluation& evaluation, std::vector<TimedWorkload> timed);

}  // namespace apo
