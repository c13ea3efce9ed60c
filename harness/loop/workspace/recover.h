// harness/loop/workspace/recover.h - what a killed run left open is said, marked and left behind.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "journal/journal.h"

namespace apo {

// Marks experiments and iterations that no process works on any more as abandoned; open campaigns stay open, to be
// resumed. Returns one sentence each.
std::vector<std::string> recover(Journal& journal, Observer& observer);

}  // namespace apo
