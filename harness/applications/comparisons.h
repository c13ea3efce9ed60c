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

// `asked` has what was asked; the folder is the current one unless it has one, and dispatches are relative to it; of a
// campaign's end, it has the campaign. Every round or run is a row as soon as it has ended, the first two runs of an
// application as soon as they are known to be long enough. `target`: the device that is recorded, and whose turns are
// taken; nullopt: a GPU that can be used, for an application and for nvbench. Without a journal nothing is kept.
// Returns the comparison with its verdict and figures. UserError for a metric or preset that makes no sense, for an A
// that fails and a B that cannot be run: nothing is recorded then.
ProgramComparison compare_programs(Workspace& workspace, Journal* journal, ProgramComparison asked,
                                   std::optional<Target> target, Observer& observer);

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
