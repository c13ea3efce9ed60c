// harness/loop/replay/reproduction.h - decides whether a second measurement agrees with the first; pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

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

}  // namespace apo
