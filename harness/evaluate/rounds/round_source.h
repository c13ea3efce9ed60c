// harness/evaluate/rounds/round_source.h - runs a round while no other process measures on the device.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Where rounds come from: all that the judging of variants and of commands differ in. A Failure says which arm
// misbehaved: slot 0 is the incumbent and slot 1 the candidate, in two looks each; -1 is nobody, or not both times. A
// wait for other processes is no part of the round's time, and is added to `waited_s`.
using RoundSource = std::function<Result<Round>(RoundStage stage, int index, double& waited_s)>;

using RunRound = std::function<Result<Round>(RoundStage stage, int index)>;

// Added to the index of a round or a block that is taken again: its coins follow from the index.
inline constexpr int kAgain = 1 << 20;

// Takes a round that fails again, in new processes and with coins of its own. What fails twice in the same arm is that
// arm's failure. A clock that failed once is the machine's, and the second round counts; after any other failure it
// does not: code that is wrong now and then is never accepted, and not blamed for what one look saw.
Result<Round> retry_round(const RunRound& run, RoundStage stage, int index);

// A turn of the runtime's; the observer is told of a long wait.
DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer);

// Each round of `run` in a turn, a second look at it included. Keeps the observer and, for a runner, both others.
RoundSource in_turns(std::shared_ptr<DeviceTurns> turns, RunRound run, Observer& observer);
RoundSource in_turns(const Runtime& runtime, RoundRunner& runner, Observer& observer);

}  // namespace apo
