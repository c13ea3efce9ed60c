// harness/evaluate/evaluate.h - one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include "harness/core/records.h"
#include "harness/evaluate/evaluate_hooks.h"
#include "harness/evaluate/evaluate_plan.h"
#include "harness/evaluate/lab.h"

namespace apo {

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set.
void evaluate(const Lab& lab, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks);

}  // namespace apo
