// harness/loop/workspace/known_roofs.h - the roofs of a device and driver, measured once and kept in the journal.
#pragma once

#include <vector>

#include "harness/core/records/records.h"

namespace apo {

class Journal;

// Those of this device under its present driver, the newest of each; empty when there are none, or when the program
// that measured them knew fewer: they are to be measured then.
std::vector<Roof> known_roofs(Journal& journal, const Machine& machine);

// No call of the workload can be faster than its compulsory work at these roofs; 0 without them.
double floor_of(const Family& family, const Workload& workload, const Machine& machine, const std::vector<Roof>& roofs);

}  // namespace apo
