// harness/evaluate/hooks.cpp - passes progress and gates to the hooks that are set.
#include "harness/evaluate/hooks.h"

#include <utility>

namespace apo {

void tell_progress(const EvaluateHooks& hooks, const std::string& what, int done, int expected, double seconds_left) {
  if (hooks.on_progress) {
    hooks.on_progress(what, done, expected, seconds_left);
  }
}

bool add_gate(Experiment& experiment, const EvaluateHooks& hooks, GateResult gate) {
  const bool passed = gate.outcome == Outcome::valid;
  experiment.outcome = gate.outcome;
  if (hooks.on_gate) {
    hooks.on_gate(gate);
  }
  experiment.gates.push_back(std::move(gate));
  return passed;
}

}  // namespace apo
