// harness/loop/audit.h - whether a journal is whole, keeps its invariants, and was tossed with the coins of its seeds.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"

namespace apo {

// What is wrong, damage of the file first; empty when nothing is. Reads every round.
std::vector<std::string> audit(Journal& journal);

}  // namespace apo
