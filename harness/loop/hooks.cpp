// harness/loop/hooks.cpp - passes progress to the observer, builds, gates and rounds to the journal.
#include "harness/loop/hooks.h"

namespace apo {

EvaluateHooks journal_hooks(Journal& journal, std::int64_t experiment) {
  return {.on_build =
              [&journal, experiment](const Build& build, bool candidate) {
                journal.add_build(experiment, candidate ? Journal::Role::candidate : Journal::Role::incumbent, build);
              },
          .on_gate = [&journal, experiment](const GateResult& gate) { journal.add_gate(experiment, gate); },
          .on_round = [&journal, experiment](const Round& round) { journal.add_round(experiment, round); }};
}

}  // namespace apo
