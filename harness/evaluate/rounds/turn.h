// harness/evaluate/rounds/turn.h - runs a round while no other process measures on the device.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Takes a turn of the runtime's and reports a long wait to the observer.
DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer);

// Runs one round in a turn of the runtime's. The wait is no part of the round's time and is added to `waited_s`.
Result<Round> run_in_turn(const Runtime& runtime, RoundRunner& runner, RoundStage stage, int index, Observer& observer,
                          double& waited_s);

}  // namespace apo
