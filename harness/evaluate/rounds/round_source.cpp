// harness/evaluate/rounds/round_source.cpp - takes the device's turn, runs a round, and gives it back.
#include "harness/evaluate/rounds/round_source.h"

#include <utility>

namespace apo {

DeviceTurns::Turn take_turn(const std::shared_ptr<DeviceTurns>& turns, Observer& observer) {
  return turns == nullptr ? DeviceTurns::Turn()
                          : turns->take([&observer](const std::string& line) { observer.say(line); });
}

namespace {

bool is_wrong_candidate(const Failure& failure) {
  return failure.outcome == Outcome::incorrect && failure.slot == 1;
}

}  // namespace

Result<Round> retry_round(const RunRound& run, RoundStage stage, int index) {
  const auto first = run(stage, index);
  if (first) {
    return first;
  }
  const auto second = run(stage, index + kAgain);
  const bool of_clock = first.failure().outcome == Outcome::unstable_clock;
  if (second && of_clock) {
    Round round = *second;
    round.index = index;
    return round;
  }
  Failure failure = second || is_wrong_candidate(first.failure()) ? first.failure() : second.failure();
  if (second) {
    failure.evidence += "; the round that was taken again did not fail";
  }
  const bool blames_incumbent = first.failure().slot == 0 || (!second && second.failure().slot == 0);
  if (is_wrong_candidate(failure) && !blames_incumbent) {
    return failure;
  }
  if (second || of_clock || failure.outcome == Outcome::unstable_clock ||
      second.failure().slot != first.failure().slot) {
    failure.slot = -1;
  }
  return failure;
}

RoundSource in_turns(std::shared_ptr<DeviceTurns> turns, RunRound run, Observer& observer) {
  return [turns = std::move(turns), run = std::move(run), &observer](RoundStage stage, int index,
                                                                     double& waited_s) -> Result<Round> {
    constexpr double kNoWaitS = 0.01;  // taking a free lock
    const DeviceTurns::Turn turn = take_turn(turns, observer);
    waited_s += turn.waited_s();
    auto result = retry_round(run, stage, index);
    if (!result || turn.waited_s() < kNoWaitS) {
      return result;
    }
    Round round = *result;
    round.environment.waited_for_turn_s = turn.waited_s();
    return round;
  };
}

RoundSource in_turns(const Runtime& runtime, RoundRunner& runner, Observer& observer) {
  return in_turns(
      runtime.turns, [&runner](RoundStage stage, int index) { return runner.run(stage, index); }, observer);
}

}  // namespace apo
