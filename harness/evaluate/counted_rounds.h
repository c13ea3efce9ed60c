// harness/evaluate/counted_rounds.h - as many rounds that count as are wanted, of two arms that need no gate any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/evaluate_hooks.h"
#include "harness/evaluate/evaluate_plan.h"
#include "harness/evaluate/lab.h"
#include "harness/evaluate/round_runner.h"
#include "harness/evaluate/timed_workload.h"

namespace apo {

// Both arms built for the plan's workloads, with inputs. Throws EnvironmentError when one does not build.
std::vector<TimedWorkload> build_pair(const Lab& lab, const Configuration& incumbent, const Configuration& candidate,
                                      const EvaluatePlan& plan, std::uint64_t seed);

// `wanted` rounds that count; void ones are run again, as far as the profile allows. `what` is shown as progress; waits
// for other processes are added to `waited_s`. Throws EnvironmentError when an arm does not run or too many are void.
std::vector<Round> run_rounds(const Lab& lab, RoundRunner& runner, const std::string& stage, int wanted,
                              const JudgeProfile& profile, const EvaluateHooks& hooks, const std::string& what,
                              double& waited_s);

}  // namespace apo
