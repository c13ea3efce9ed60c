// harness/loop/replay/audit.h - checks that a journal is whole, keeps its invariants, and has the coins of its seeds.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"

namespace apo {

// Lists everything that is wrong, damage of the file first; empty for a sound journal. Reads every round.
std::vector<std::string> audit(Journal& journal);

}  // namespace apo
