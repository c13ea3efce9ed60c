// harness/evaluate/hooks.h - callbacks for the facts of an evaluation, each called as soon as the fact is known.
#pragma once

#include <functional>
#include <string>

#include "harness/core/records/records.h"

namespace apo {

// Called as soon as each fact is there, so that a crash loses nothing that was finished.
struct EvaluateHooks {
  std::function<void(const Build&, bool candidate)> on_build;
  std::function<void(const GateResult&)> on_gate;
  std::function<void(const Round&)> on_round;
  std::function<void(const std::string& what, int done, int expected, double seconds_left)> on_progress;
  std::function<void(const std::string& line)> on_note;  // what is worth a line, such as a long wait
};

// How far it is, to who listens.
void tell_progress(const EvaluateHooks& hooks, const std::string& what, int done, int expected,
                   double seconds_left = 0);

// A gate that is over, to the experiment and to who listens. True when it was passed.
bool add_gate(Experiment& experiment, const EvaluateHooks& hooks, GateResult gate);

}  // namespace apo
