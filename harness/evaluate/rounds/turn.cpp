// harness/evaluate/rounds/turn.cpp - takes the device's turn, runs a round, and gives it back.
#include "harness/evaluate/rounds/turn.h"

#include <utility>

namespace apo {

DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer) {
  return runtime.take_turn([&observer](const std::string& line) { observer.say(line); });
}

RoundSource in_turns(std::shared_ptr<DeviceTurns> turns, std::function<Result<Round>(RoundStage, int)> run,
                     Observer& observer) {
  return [turns = std::move(turns), run = std::move(run), &observer](RoundStage stage, int index,
                                                                     double& waited_s) -> Result<Round> {
    constexpr double kNoWaitS = 0.01;  // taking a free lock
    const DeviceTurns::Turn turn = turns == nullptr
                                       ? DeviceTurns::Turn()
                                       : turns->take([&observer](const std::string& line) { observer.say(line); });
    waited_s += turn.waited_s();
    auto result = run(stage, index);
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
