// harness/loop/workspace/recover.h - reports and marks what a killed run left open.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "journal/journal.h"

namespace apo {

// Marks experiments, iterations and trials (`apo try`) without a running process as abandoned; other open campaigns
// stay open, to be resumed. Returns one sentence each.
std::vector<std::string> recover(Journal& journal, Observer& observer);

}  // namespace apo
