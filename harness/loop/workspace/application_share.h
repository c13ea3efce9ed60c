// harness/loop/workspace/application_share.h - how much of an application's time the kernels of a campaign take.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "journal/journal.h"

namespace apo {

// 1 for an empty pattern. Else from the newest profile of an application in the journal; throws UserError when there is
// none, or none of its work has such a name.
double application_share(Journal& journal, const std::string& pattern, Observer& observer);

}  // namespace apo
