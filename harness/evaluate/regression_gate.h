// harness/evaluate/regression_gate.h - compares a variant with its stored self in the same rounds.
#pragma once

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/gated_rounds.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Metadata, build, machine code, correctness of the candidate, then rounds until the rule decides. Uses of the plan:
// workloads, cache, seed, and the preset for how a round is run. Throws EnvironmentError when the baseline does not
// build or run.
RegressionResult run_regression_gate(const Runtime& runtime, const Configuration& baseline,
                                     const Configuration& candidate, const EvaluatePlan& plan, const GateRule& rule,
                                     Observer& observer);

}  // namespace apo
