// harness/loop/starting_point.h - the configuration that a campaign starts from.
#pragma once

#include <optional>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// The policy's baseline; nothing when it names none. UserError for one of another family.
std::optional<Configuration> named_baseline(const Workspace& workspace, const Policy& policy);

// The one that was named, else this machine's incumbent of the nearest judged workload, else the baseline of the
// family. UserError when there is none of them.
Configuration starting_point(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer);

}  // namespace apo
