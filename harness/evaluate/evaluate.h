// harness/evaluate/evaluate.h - evaluates one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/judge_pair.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set. Returns nullopt when a gate ended it before its timing. Throws EnvironmentError when the incumbent does not
// build.
std::optional<PairOutcome> evaluate(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan,
                                    Observer& observer, const EvaluateHooks& hooks = {});

// The same in two steps, for a plan whose preset is chosen between them.
struct ReadyToTime {
  std::vector<TimedWorkload> pairs;  // both arms built for every workload
  double seconds = 0;                // that the gates took
};
// Returns nullopt when a gate ended the experiment, which then has its judgement.
std::optional<ReadyToTime> run_untimed_gates(const Evaluation& evaluation);
PairOutcome run_timing(const Evaluation& evaluation, ReadyToTime ready);

// "incorrect at the gate 'correctness': why".
std::string failed_at(const GateResult& last);
// The judgement of an experiment that this gate ended before its timing.
Judgement not_timed(const GateResult& last);

}  // namespace apo
