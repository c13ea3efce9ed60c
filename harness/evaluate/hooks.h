// harness/evaluate/hooks.h - callbacks for the facts of an evaluation, each called as soon as the fact is known.
#pragma once

#include <functional>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Receives each fact as soon as it is known, so that a crash loses no finished work.
struct EvaluateHooks {
  std::function<void(const Build&, bool candidate)> on_build;
  std::function<void(const GateResult&)> on_gate;
  std::function<void(const Round&)> on_round;
};

// The inputs of every gate of one experiment.
struct Evaluation {
  const Runtime& runtime;
  Experiment& experiment;
  const EvaluatePlan& plan;
  Observer& observer;
  const EvaluateHooks& hooks;
};

// Adds a finished gate to the experiment. Returns true when it was passed.
bool add_gate(const Evaluation& evaluation, GateResult gate);

}  // namespace apo
