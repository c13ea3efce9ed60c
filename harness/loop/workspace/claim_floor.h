// harness/loop/workspace/claim_floor.h - the smallest effect that may be claimed on a machine, from its selftests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"
#include "journal/journal.h"

namespace apo {

struct ClaimFloor {
  double smallest = 0;   // log effect; 0 without a selftest
  std::string sentence;  // where it comes from, or that there is no selftest
  // How many rounds may share a process: what a selftest found for this very workload, the fewest of its kernels.
  int rounds_per_process = 1;
};

// What the selftests of this very state of the machine, under this program's rule, saw identical code seem to differ
// by, the newest of each kernel: on these workloads of the family, else on any of the family's, else on the median
// kernel.
ClaimFloor claim_floor(Journal& journal, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads);
// The same from a journal that may not be there.
ClaimFloor claim_floor(const std::filesystem::path& journal, const Machine& machine, const std::string& family,
                       const std::vector<std::string>& workloads);

// The profile with smaller claims refused.
JudgePreset with_floor(JudgePreset preset, const ClaimFloor& floor);

}  // namespace apo
