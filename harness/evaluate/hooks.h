// harness/evaluate/hooks.h - callbacks for the facts of an evaluation, each called as soon as the fact is known.
#pragma once

#include <functional>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Called as soon as each fact is there, so that a crash loses nothing that was finished.
struct EvaluateHooks {
  std::function<void(const Build&, bool candidate)> on_build;
  std::function<void(const GateResult&)> on_gate;
  std::function<void(const Round&)> on_round;
};

// What every gate of one experiment is given.
struct Evaluation {
  const Runtime& runtime;
  Experiment& experiment;
  const EvaluatePlan& plan;
  Observer& observer;
  const EvaluateHooks& hooks;
};

// Adds a finished gate to the experiment. True when it was passed.
bool add_gate(const Evaluation& evaluation, GateResult gate);

}  // namespace apo
