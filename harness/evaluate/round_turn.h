// harness/evaluate/round_turn.h - a round while no other process measures on the device.
#pragma once

#include <string>

#include "harness/core/records.h"
#include "harness/evaluate/evaluate_hooks.h"
#include "harness/evaluate/lab.h"
#include "harness/evaluate/round_runner.h"

namespace apo {

// Key of Round::environment: how long the round waited for others; absent where it did not.
inline constexpr const char* kWaitedForTurn = "waited_for_turn_s";

// Runs one round in a turn of the lab's. The wait is no part of the round's time, and is added to `waited_s`.
Result<Round> run_in_turn(const Lab& lab, RoundRunner& runner, const std::string& stage, int index,
                          const EvaluateHooks& hooks, double& waited_s);

}  // namespace apo
