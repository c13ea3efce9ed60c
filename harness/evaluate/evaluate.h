// harness/evaluate/evaluate.h - evaluates one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include "harness/evaluate/hooks.h"

namespace apo {

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set. Throws EnvironmentError when the incumbent does not build.
void evaluate(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, Observer& observer,
              const EvaluateHooks& hooks = {});

}  // namespace apo
