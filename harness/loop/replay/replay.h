// harness/loop/replay/replay.h - repeats an old judgement from the journal alone, and checks what a journal records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/replays.h"

namespace apo {

struct Reproduction {
  bool reproduced = false;
  std::string why;  // one sentence
};

// Reproduced when the verdict is the same and
// - both were timed: the new estimate lies within the old interval widened by the new one's own half towards it, which
//   is to say that the two intervals overlap;
// - neither was timed: the outcome is the same (the same gate's kind of failure, or identical machine code).
// Both are judged.
Reproduction reproduction_of(const Experiment& original, const Experiment& again);

// Lists the facts in which the machine differs, one per line; empty for the same machine in the same state.
std::vector<std::string> machine_differences(const Machine& then, const Machine& now);
// The same, if the old machine is known, and a line on the judge's rule if `rule`, the old one, is known and differs.
std::vector<std::string> judge_differences(const std::optional<Machine>& then, const Machine& now,
                                           const std::string& rule);
// Lists the differences in compiler, flags and machine code of the two arms.
std::vector<std::string> build_differences(const Experiment& original, const Experiment& again);

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

// Lists everything that is wrong, damage of the file first; empty for a sound journal. Reads every round.
std::vector<std::string> audit(Journal& journal);

}  // namespace apo
