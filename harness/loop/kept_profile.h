// harness/loop/kept_profile.h - profiles and roofs that the journal has, else measured now and kept there.
#pragma once

#include <vector>

#include "harness/loop/observer.h"
#include "harness/loop/workbench.h"
#include "harness/worker/protocol.h"

namespace apo {

// Of the bench's target. A journal that cannot be written costs only that.
std::vector<Roof> kept_or_measured_roofs(Workbench& bench, bool remeasure, Observer& observer);

// With the variant's source, so that it can be found again.
void keep_profile(Workbench& bench, const Profile& profile, Observer& observer);

// The newest one of this source on this machine under that state of the caches, else measured and kept.
Profile kept_or_measured_profile(Workbench& bench, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer);

}  // namespace apo
