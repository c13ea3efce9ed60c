// harness/evaluate/evaluate.h - evaluates one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include "harness/core/records/records.h"
#include "harness/evaluate/hooks.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set.
void evaluate(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks);

}  // namespace apo
