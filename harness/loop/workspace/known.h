// harness/loop/workspace/known.h - what the journal knows before anything is measured: roofs and wrong results.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "journal/journal.h"

namespace apo {

// "copy/x gave wrong results in experiment 7: 'apo show 7' has the evidence" for this text of the variant; "" where
// none did.
std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration);

// Returns the newest of each roof of this device under its present driver. Empty when there are none, or when an older
// program measured fewer, so that they have to be measured.
std::vector<Roof> known_roofs(Journal& journal, const Machine& machine);

// Returns the time of the workload's compulsory work at these roofs, which no call can undercut; 0 without roofs.
double floor_of(const Family& family, const Workload& workload, const Machine& machine, const std::vector<Roof>& roofs);

}  // namespace apo
