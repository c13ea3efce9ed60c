// journal/facts/research/scans.h - writes and reads what scans measured.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/records/scanned.h"

namespace apo {

class Journal;

// Both variants and the machine have to be in the journal.
std::int64_t add_scanned(Journal& journal, const Scanned& scanned);
// All rows of a place, on devices like the machine in its present state, the oldest first.
std::vector<Scanned> scanned_at(Journal& journal, const ScanPlace& place);

}  // namespace apo
