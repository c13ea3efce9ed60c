// journal/facts/mistakes.h - which code was proven wrong, and at which call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/experiment.h"

namespace apo {

class Journal;

// The oldest experiment that proved the candidate's code wrong, on any machine: this text with these settings, or where
// timed calls were wrong, this machine code on the same single workload, under the same contract.
std::optional<std::int64_t> oldest_proof_of_wrong(Journal& journal, const Experiment& candidate);
// Where the gates of an experiment found outputs wrong.
struct KnownCase {
  std::int64_t experiment = 0;
  WrongCase where;
};
// The case of this experiment, if it has one, then that of the newest other one of the family.
std::vector<KnownCase> wrong_cases(Journal& journal, const std::string& family,
                                   const std::optional<std::int64_t>& experiment);

}  // namespace apo
