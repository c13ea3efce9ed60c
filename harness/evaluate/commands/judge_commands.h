// harness/evaluate/commands/judge_commands.h - judges two commands: by the rule of `apo compare`, or by that of `apo
// gate`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/observer.h"
#include "harness/core/system/device_turns.h"
#include "harness/evaluate/judge_pair.h"

namespace apo {

struct CommandHooks {
  std::function<void()> on_begin = {};              // A works, and B exists
  std::function<void(const Round&)> on_round = {};  // as it is recorded
  std::map<std::string, double> noise = {};         // of a suite: known of this machine, by benchmark, as noise_of()
};

// Runs each command once, checks what it printed, and asks for rounds until the comparison's rule has decided; of a
// suite only for benchmarks that are undecided, where the program can select them.
// Fills its rounds, outcome, judgement and figure. Throws UserError, before on_begin, where A fails or B is no
// command; EnvironmentError where the A/A run finds that this machine cannot judge. A failure of B is its verdict.
void judge_commands(ProgramComparison& comparison, std::uint64_t seed, std::shared_ptr<DeviceTurns> turns,
                    Observer& observer, const CommandHooks& hooks = {});

// Judges the recorded rounds again, under the recorded preset: the judgement, and a gate's figures and verdict. Pure.
void judge_again(ProgramComparison& comparison);

}  // namespace apo
