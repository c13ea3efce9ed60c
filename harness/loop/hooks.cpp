// harness/loop/hooks.cpp - passes progress to the observer, builds, gates and rounds to the journal.
#include "harness/loop/hooks.h"

namespace apo {

EvaluateHooks hooks_for(Observer& observer, Journal* journal, std::int64_t experiment) {
  EvaluateHooks hooks;
  hooks.on_progress = [&observer](const std::string& what, int done, int expected, double left) {
    observer.progress({.what = what, .done = done, .expected = expected, .seconds_left = left});
  };
  hooks.on_note = [&observer](const std::string& line) { observer.say(line); };
  if (journal != nullptr) {
    hooks.on_build = [journal, experiment](const Build& build, bool candidate) {
      journal->add_build(experiment, candidate ? Journal::Role::candidate : Journal::Role::incumbent, build);
    };
    hooks.on_gate = [journal, experiment](const GateResult& gate) { journal->add_gate(experiment, gate); };
    hooks.on_round = [journal, experiment](const Round& round) { journal->add_round(experiment, round); };
  }
  return hooks;
}

}  // namespace apo
