// harness/loop/workspace/application_share.h - the share of an application's time that a campaign's kernels take.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "journal/journal.h"

namespace apo {

// 1 for an empty pattern. Else from the newest profile of an application in the journal; throws UserError when there is
// none, or none of its work has such a name.
double application_share(Journal& journal, const std::string& pattern, Observer& observer);

}  // namespace apo
