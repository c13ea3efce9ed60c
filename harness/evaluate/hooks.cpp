// harness/evaluate/hooks.cpp - passes progress and gates to the hooks that are set.
#include "harness/evaluate/hooks.h"

#include <utility>

namespace apo {

bool add_gate(const Evaluation& evaluation, GateResult gate) {
  const bool passed = gate.outcome == Outcome::valid;
  evaluation.experiment.outcome = gate.outcome;
  if (evaluation.hooks.on_gate) {
    evaluation.hooks.on_gate(gate);
  }
  evaluation.experiment.gates.push_back(std::move(gate));
  return passed;
}

}  // namespace apo
