// harness/evaluate/timing_gate.h - times candidate and incumbent until the judge has seen enough.
#pragma once

#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/hooks.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Fills rounds, judgement and the gates "timing" and "confirmation" of an experiment that has passed all others.
// `timed`: the plan's workloads, with both arms built and with inputs.
void time_experiment(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan,
                     const EvaluateHooks& hooks, std::vector<TimedWorkload> timed);

}  // namespace apo
