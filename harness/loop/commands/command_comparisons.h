// harness/loop/commands/command_comparisons.h - judges two commands and keeps it in the journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/commands/command_comparison.h"
#include "harness/core/observer.h"
#include "harness/loop/replay/replay.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

struct CommandRequest {
  CommandComparison asked;  // the folder: where they run; empty: here
  // The device that is recorded, and whose turns are taken; nullopt: a GPU for nvbench only.
  std::optional<Target> target;
  bool keep = true;  // record it in the journal
};

// The comparison with its verdict and number. UserError for a metric, preset or duration that makes no sense, for an A
// that fails and a B that is no command: nothing is recorded then.
CommandComparison compare_commands(Workspace& workspace, CommandRequest request, Observer& observer);

struct CommandReplay {
  CommandComparison original;
  CommandComparison again;
  Reproduction reproduction;
  std::vector<std::string> differences;  // of the machine and the judge's rule
};

// Repeats a comparison in the recorded folder, with the commands as they are now. UserError when there is no such
// comparison, or when it was never judged.
CommandReplay replay_commands(Workspace& workspace, std::int64_t id, Observer& observer);

// Compares the verdicts and asks whether the intervals overlap. Both comparisons are judged.
Reproduction reproduction_of(const CommandComparison& original, const CommandComparison& again);

}  // namespace apo
