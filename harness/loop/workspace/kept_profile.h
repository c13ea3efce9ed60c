// harness/loop/workspace/kept_profile.h - finds profiles and roofs in the journal, or measures and keeps them.
#pragma once

#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {

// Of the workspace's target. A journal that cannot be written costs only that.
std::vector<Roof> kept_or_measured_roofs(Workspace& workspace, bool remeasure, Observer& observer);

// With the variant's source, so that it can be found again.
void keep_profile(Workspace& workspace, const Profile& profile, Observer& observer);

// The newest one of this source on this machine under that state of the caches, else measured and kept.
Profile kept_or_measured_profile(Workspace& workspace, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer);

}  // namespace apo
