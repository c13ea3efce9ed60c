// harness/evaluate/rounds/turn.cpp - see turn.h.
#include "harness/evaluate/rounds/turn.h"

namespace apo {

Result<Round> run_in_turn(const Runtime& runtime, RoundRunner& runner, RoundStage stage, int index,
                          const EvaluateHooks& hooks, double& waited_s) {
  constexpr double kNoWaitS = 0.01;  // taking a free lock
  const DeviceTurns::Turn turn = runtime.take_turn(hooks.on_note);
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
