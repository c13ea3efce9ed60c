// harness/evaluate/commands/judge_commands.h - judges two commands: by the rule of `apo compare`, or by that of `apo
// gate`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/observer.h"
#include "harness/core/system/device_turns.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Runs A of an application once more with these environment variables; no verdict uses the run.
using RunOfA = std::function<ApplicationRun(const std::vector<std::string>& variables)>;

// What a judge of two programs tells and is told.
struct ComparisonHooks {
  std::function<void()> on_begin = {};                     // A works: the first row
  std::function<void(const Round&)> on_round = {};         // of commands, as it is recorded
  std::function<void(const ApplicationRun&)> on_run = {};  // as it ended; of the first pair, as both did
  std::function<void(const RunOfA&)> on_pairs = {};        // after all pairs of runs, if they ended well
  std::map<std::string, double> noise = {};                // of a suite: known of this machine, as noise_of()
};

// Runs each command once, checks what it printed, and asks for rounds until the comparison's rule has decided; of a
// suite only for benchmarks that are undecided, where the program can select them.
// Fills its rounds, outcome, judgement and figures. Throws UserError, before on_begin, where A fails or B is no
// command; EnvironmentError where the A/A run finds that this machine cannot judge. A failure of B is its verdict.
void judge_commands(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                    Observer& observer, const ComparisonHooks& hooks = {});

// The verdict on a B that failed before anything was timed.
void fail_b(ProgramComparison& comparison, const Failure& failure, const std::string& sentence);

// Judges the recorded rounds again, under the recorded preset: the judgement, and a gate's figures and verdict. Pure.
void judge_again(ProgramComparison& comparison);

}  // namespace apo
