// harness/evaluate/rounds/counted_rounds.h - as many rounds that count as are wanted, of two arms that need no gate any
// more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/evaluate/rounds/round_source.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Builds both arms for the plan's workloads, with inputs; shown as progress. Throws EnvironmentError when one does not
// build.
std::vector<TimedWorkload> build_pair(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& candidate, const EvaluatePlan& plan, std::uint64_t seed,
                                      Observer& observer);

// `wanted` rounds that count; void ones are run again, as far as the preset allows. `what` is shown as progress; waits
// for other processes are added to `waited_s`. Throws EnvironmentError when an arm does not run or too many are void.
std::vector<Round> run_rounds(const RoundSource& source, RoundStage stage, int wanted, const JudgePreset& preset,
                              Observer& observer, const std::string& what, double& waited_s);

}  // namespace apo
