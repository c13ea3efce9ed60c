// harness/loop/workspace/known.h - what the journal knows before anything is measured: roofs, wrong results, the
// smallest claim, the share of an application.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// The journal, to read what is known; nullopt where there is none yet.
std::optional<Journal> existing_journal(const Paths& paths);

// What the journal knows of the candidate's code and its family; without a build, by the text alone.
KnownMistakes known_mistakes(Journal& journal, const Family& family, const Experiment& candidate);
// Its proof alone.
std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration);

// Returns the newest of each roof of this device under its present driver. Empty when there are none, or when an older
// program measured fewer, so that they have to be measured.
std::vector<Roof> known_roofs(Journal& journal, const Machine& machine);

// Returns the time of the workload's compulsory work at these roofs, which no call can undercut; 0 without roofs.
double floor_of(const Family& family, const Workload& workload, const Machine& machine, const std::vector<Roof>& roofs);

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

// Returns 1 for an empty pattern, else the share in the newest profile of an application in the journal. Throws
// UserError when there is no such profile, or no work in it has such a name.
double application_share(Journal& journal, const std::string& pattern, Observer& observer);

}  // namespace apo
