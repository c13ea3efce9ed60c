// harness/loop/replay.h - repeats an old judgement from the journal alone, for `apo confirm` and `apo replay`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/reproduction.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

struct Replay {
  Experiment original;
  Experiment again;  // an experiment of its own in the journal
  Reproduction reproduction;
  std::vector<std::string> differences;  // of machine, compiler, flags, machine code
};

// Sources, settings, workloads, cache policy, the judge's profile and which gates ran come from the journal; the
// seeds are fresh and secret, since the original's stand in the journal for every candidate to read.
// UserError: no such experiment, never judged, itself a replay, nothing accepted to confirm, a source that the journal
// lost. EnvironmentError: what it needs is not here, or does not run; what was begun is marked as abandoned then.
Replay measure_again(Workspace& workspace, Journal& journal, std::int64_t original, ReplayRow::Kind kind,
                     Observer& observer);

}  // namespace apo
