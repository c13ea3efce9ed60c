// harness/evaluate/rounds/turn.h - runs a round while no other process measures on the device.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Key of Round::environment: how long the round waited for others; absent where it did not.
inline constexpr const char* kWaitedForTurn = "waited_for_turn_s";

// A turn of the runtime's; the observer is told of a long wait.
DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer);

// Runs one round in a turn of the runtime's. The wait is no part of the round's time, and is added to `waited_s`.
Result<Round> run_in_turn(const Runtime& runtime, RoundRunner& runner, const std::string& stage, int index,
                          Observer& observer, double& waited_s);

}  // namespace apo
