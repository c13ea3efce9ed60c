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

// Runs a round: the only difference between judging variants and judging commands. A Failure names the arm that
// misbehaved in two attempts: slot 0 is the incumbent, slot 1 the candidate, -1 neither. Waits for other processes do
// not belong to the round's time and are added to `waited_s`.
using RoundSource = std::function<Result<Round>(RoundStage stage, int index, double& waited_s)>;

using RunRound = std::function<Result<Round>(RoundStage stage, int index)>;

// Added to the index of a repeated round or block: its coins follow from the index.
inline constexpr int kAgain = 1 << 20;

// Repeats a round that fails, in new processes and with new coins. Two failures of the same arm are that arm's failure.
// One failure of the clock is the machine's, and the second round counts. After any other failure the second round does
// not count, and one failure blames no arm. But a wrong output of the candidate is proof however rare it is, unless the
// other failure is the incumbent's, with which it may share a process.
Result<Round> retry_round(const RunRound& run, RoundStage stage, int index);

// Takes the device for this process; the observer is told of a long wait.
DeviceTurns::Turn take_turn(const std::shared_ptr<DeviceTurns>& turns, Observer& observer);

// Returns a source that holds the device for each round, its repetition included. Keeps references to the observer and
// the runner.
RoundSource in_turns(std::shared_ptr<DeviceTurns> turns, RunRound run, Observer& observer);
RoundSource in_turns(const Runtime& runtime, RoundRunner& runner, Observer& observer);

}  // namespace apo
