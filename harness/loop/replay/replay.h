// harness/loop/replay/replay.h - repeats an old judgement from the journal alone, for `apo confirm` and `apo replay`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/replay/reproduction.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

struct Replay {
  Experiment original;
  Experiment again;  // an experiment of its own in the journal
  Reproduction reproduction;
  std::vector<std::string> differences;  // of machine, compiler, flags, machine code
};

// Takes sources, settings, workloads, cache policy, the judge's preset and the list of gates from the journal. The
// seeds are fresh and secret, because every candidate could read the original's in the journal. Throws UserError when
// there is no such experiment, it was never judged, is itself a replay, has no accept to confirm, or its source is
// lost; EnvironmentError when this machine lacks what it needs, and then marks the begun experiment as abandoned.
Replay measure_again(Workspace& workspace, Journal& journal, std::int64_t original, ReplayRow::Kind kind,
                     Observer& observer);

}  // namespace apo
