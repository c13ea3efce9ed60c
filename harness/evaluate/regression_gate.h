// harness/evaluate/regression_gate.h - compares a variant with its stored self in the same rounds.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/gate_decision.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

enum class GateVerdict : std::uint8_t {
  passed,     // not slower than the margin allows, or the same machine code
  regressed,  // slower by more than the margin
  failed,     // a gate before the timing, or a failure while it was timed
  undecided,  // this machine cannot tell, with this margin
};

struct RegressionResult {
  GateVerdict verdict = GateVerdict::undecided;
  std::string sentence;           // for people
  std::vector<GateResult> gates;  // the last one says why, when the verdict is `failed`
  GateState state;                // workloads in the order of the plan; none when nothing was timed
  std::vector<Round> rounds;
  double seconds = 0;
};

// Runs the gates metadata, build, machine code and correctness, then rounds until the rule decides. Uses of the plan:
// workloads, cache, seed, and the preset for how a round is run. Throws EnvironmentError when the baseline does not
// build or run.
RegressionResult run_regression_gate(const Runtime& runtime, const Configuration& baseline,
                                     const Configuration& candidate, const EvaluatePlan& plan, const GateRule& rule,
                                     Observer& observer);

std::string_view to_string(GateVerdict verdict);

}  // namespace apo
