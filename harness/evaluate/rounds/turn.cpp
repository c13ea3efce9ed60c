// harness/evaluate/rounds/turn.cpp - takes the device's turn, runs a round, and gives it back.
#include "harness/evaluate/rounds/turn.h"

namespace apo {

DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer) {
  return runtime.take_turn([&observer](const std::string& line) { observer.say(line); });
}

Result<Round> run_in_turn(const Runtime& runtime, RoundRunner& runner, RoundStage stage, int index, Observer& observer,
                          double& waited_s) {
  constexpr double kNoWaitS = 0.01;  // taking a free lock
  const DeviceTurns::Turn turn = take_turn(runtime, observer);
  waited_s += turn.waited_s();
  const auto result = runner.run(stage, index);
  if (!result || turn.waited_s() < kNoWaitS) {
    return result;
  }
  Round round = *result;
  round.environment.waited_for_turn_s = turn.waited_s();
  return round;
}

}  // namespace apo
