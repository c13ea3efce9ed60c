// harness/evaluate/evaluate.h - evaluates one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"
#include "harness/evaluate/judge_pair.h"
#include "harness/evaluate/plan.h"

namespace apo {

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set. Returns nullopt when a gate ended it before its timing. Throws EnvironmentError when the incumbent does not
// build.
std::optional<PairOutcome> evaluate(const Runtime& runtime, Experiment& experiment, EvaluatePlan plan,
                                    Observer& observer, const EvaluateHooks& hooks = {});

// Has the candidate called in all cases whose reference is cheap, and in those of a slow one, in this order, until that
// has taken the plan's `regimes_s`: in one at least, and each behind the incumbent's call on the same inputs.
GateResult regimes_gate(const Evaluation& evaluation, std::vector<CheckCase> cases, std::uint64_t seed);

// "incorrect at the gate 'correctness': why".
std::string failed_at(const GateResult& last);
// The judgement of an experiment that this gate ended before its timing.
Judgement not_timed(const GateResult& last);
// The same of one that was timed and accepted, and whose last gate was added after that.
void fail_after_timing(Experiment& experiment);

}  // namespace apo
