// harness/evaluate/programs/judge_programs.h - judges two programs that are run as processes: two commands, or one
// program with two dispatches.
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

// What the judge tells and is told.
struct ComparisonHooks {
  std::function<void()> on_begin = {};                     // A works, and B is a program: the first row
  std::function<void(const Round&)> on_round = {};         // of commands, as it is recorded
  std::function<void(const ApplicationRun&)> on_run = {};  // as it ended; of the first pair, as both did
  std::map<std::string, double> noise = {};                // of a suite: known of this machine, as noise_of()
};

// Fills what is measured, outcome, judgement and figures. Throws UserError, before on_begin, where A fails or B is no
// program at all; EnvironmentError where the A/A run finds that this machine cannot judge. A failure of B is its
// verdict.
void judge_programs(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                    Observer& observer, const ComparisonHooks& hooks = {});

// Of two commands: runs each once, checks what it printed, and asks for rounds until the comparison's rule has decided;
// of a suite only for benchmarks that are undecided, where the program can select them.
void judge_commands(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                    Observer& observer, const ComparisonHooks& hooks);

// Of two dispatches: prepares both, and runs the declared number of pairs: fresh processes with the same
// seed, in an order that `seed` draws. They do the declared number of steps, or more where these are too short to be
// timed. Ends with the first pair in which a run fails.
void judge_application(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                       Observer& observer, const ComparisonHooks& hooks);

// The verdict on a B that failed before anything was timed.
void fail_b(ProgramComparison& comparison, const Failure& failure, const std::string& sentence);

// Judges the recorded rounds of commands again, under the recorded preset: the judgement, and a gate's figures and
// verdict. Pure.
void judge_rounds_again(ProgramComparison& comparison);

// Fills everything from the outcome to the figures from the runs of an application alone. The speed follows the rule of
// the first look at a kernel (level 0.001, margin 0.3 %) over the pairs; the quality two one-sided tests over the
// seeds. Accepted is what is faster and not worse. Pure.
void judge_runs(ProgramComparison& comparison);

// Decides the recorded rounds or runs again. Returns "" if the result equals the recorded one (the effect and its
// interval bit for bit) or another version of the rule made that one, else a sentence. Pure.
std::string difference_on_replay(const ProgramComparison& comparison);

}  // namespace apo
