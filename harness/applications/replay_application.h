// harness/applications/replay_application.h - repeats a judgement by an application, for `apo replay a3`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/applications/application_comparison.h"
#include "harness/core/observer.h"
#include "harness/loop/replay/replay.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

struct ApplicationReplay {
  ApplicationComparison original;
  ApplicationComparison again;  // a comparison of its own in the journal
  Reproduction reproduction;
  std::vector<std::string> differences;  // of the machine and the judge's rule
};

// The recorded application and dispatches as they are now, in the recorded folder, with the recorded seeds. UserError:
// no such comparison, never judged, or its folder or a dispatch is gone.
ApplicationReplay replay_application(Workspace& workspace, Journal& journal, std::int64_t id, Observer& observer);

// Recorded comparisons whose verdict does not follow from their runs: a sentence each.
std::vector<std::string> unfounded_application_verdicts(Journal& journal);

// Reproduced when the verdict is the same and the intervals of the speed overlap; of a failure, when the outcome and
// the side are the same. Both are judged.
Reproduction reproduction_of(const ApplicationComparison& original, const ApplicationComparison& again);

}  // namespace apo
