// harness/loop/workspace/known_roofs.h - the roofs of a device and driver, measured once and kept in the journal.
#pragma once

#include <vector>

#include "harness/core/records/records.h"

namespace apo {

class Journal;

// Returns the newest of each roof of this device under its present driver. Empty when there are none, or when an older
// program measured fewer, so that they have to be measured.
std::vector<Roof> known_roofs(Journal& journal, const Machine& machine);

// Returns the time of the workload's compulsory work at these roofs, which no call can undercut; 0 without roofs.
double floor_of(const Family& family, const Workload& workload, const Machine& machine, const std::vector<Roof>& roofs);

}  // namespace apo
