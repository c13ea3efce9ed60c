// harness/loop/workspace/kept_profile.h - finds profiles and roofs in the journal, or measures and keeps them.
#pragma once

#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {

// Returns the known roofs of the workspace's target, or measures and stores them. A journal that cannot be written
// prevents only the storing.
std::vector<Roof> kept_or_measured_roofs(Workspace& workspace, bool remeasure, Observer& observer);

// Stores the profile with the variant's source, so that it can be found again.
void keep_profile(Workspace& workspace, const Profile& profile, Observer& observer);

// Returns the newest stored profile of this source on this machine under that state of the caches, or measures and
// stores one.
Profile kept_or_measured_profile(Workspace& workspace, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer);

}  // namespace apo
