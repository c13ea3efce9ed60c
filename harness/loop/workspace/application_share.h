// harness/loop/workspace/application_share.h - the share of an application's time that a campaign's kernels take.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "journal/journal.h"

namespace apo {

// Returns 1 for an empty pattern, else the share in the newest profile of an application in the journal. Throws
// UserError when there is no such profile, or no work in it has such a name.
double application_share(Journal& journal, const std::string& pattern, Observer& observer);

}  // namespace apo
