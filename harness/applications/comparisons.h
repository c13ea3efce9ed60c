// harness/applications/comparisons.h - judges two commands, or two dispatches by an application, keeps it in the
// journal, and repeats what is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/observer.h"
#include "harness/loop/replay/replay.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

class Journal;

// `asked` has what was asked; the folder is the current one unless it has one. Every round is a row as soon as it has
// ended. `target`: the device that is recorded, and whose turns are taken; nullopt: a GPU for nvbench only. Without a
// journal nothing is kept. Returns the comparison with its verdict and number. UserError for a metric or preset that
// makes no sense, for an A that fails and a B that is no command: nothing is recorded then.
ProgramComparison compare_commands(Workspace& workspace, Journal* journal, ProgramComparison asked,
                                   std::optional<Target> target, Observer& observer);

// The same of dispatches, which are relative to the folder; of a campaign's end, `asked` has the campaign. Every run is
// a row as soon as it has ended, the first two as soon as they are known to be long enough. The device is that of the
// workspace. UserError where a dispatch is not there, and where A cannot be prepared: nothing is recorded then.
ProgramComparison compare_dispatches(Workspace& workspace, Journal& journal, ProgramComparison asked,
                                     Observer& observer);

struct ComparisonReplay {
  ProgramComparison original;
  ProgramComparison again;  // a comparison of its own in the journal
  Reproduction reproduction;
  std::vector<std::string> differences;  // of the machine and the judge's rule
};

// Asks again what a recorded comparison asked, in its folder, with the commands, the application and the dispatches as
// they are now. UserError: no such comparison, never judged, or its folder or a dispatch is gone.
ComparisonReplay replay_comparison(Workspace& workspace, Journal& journal, std::int64_t id, Observer& observer);

// Reproduced when the verdict is the same and the intervals overlap; of a gate, when the verdict is; of a failed
// application, when the outcome and the side are, too. Both are judged.
Reproduction reproduction_of(const ProgramComparison& original, const ProgramComparison& again);

}  // namespace apo
