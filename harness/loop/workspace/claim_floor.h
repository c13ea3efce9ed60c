// harness/loop/workspace/claim_floor.h - the smallest effect that may be claimed on a machine, from its selftests.
#pragma once

#include <string>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"
#include "journal/journal.h"

namespace apo {

struct ClaimFloor {
  double smallest = 0;   // log effect; 0 without a selftest
  std::string sentence;  // where it comes from, or that there is no selftest
  // How many rounds may share a process: the smallest number that a selftest found for a kernel of this workload.
  int rounds_per_process = 1;
  bool operator==(const ClaimFloor&) const = default;
};
APO_FIELDS(ClaimFloor, smallest, sentence, rounds_per_process)

// Takes the apparent differences of identical code in the selftests of this state of the machine under this program's
// rule, the newest of each kernel: on these workloads of the family, else on any of the family's, else on the median
// kernel. nullptr: there is no journal yet.
ClaimFloor claim_floor(Journal* journal, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads);

// Returns the preset with smaller claims refused.
JudgePreset with_floor(JudgePreset preset, const ClaimFloor& floor);

}  // namespace apo
