// harness/evaluate/rounds/turn.h - a round while no other process measures on the device.
#pragma once

#include "harness/core/records/records.h"
#include "harness/evaluate/hooks.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Runs one round in a turn of the runtime's. The wait is no part of the round's time, and is added to `waited_s`.
Result<Round> run_in_turn(const Runtime& runtime, RoundRunner& runner, RoundStage stage, int index,
                          const EvaluateHooks& hooks, double& waited_s);

}  // namespace apo
