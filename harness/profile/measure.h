// harness/profile/measure.h - measures a profile: calls at every thread count, counters apart from times.
#pragma once

#include <vector>

#include "harness/core/observer.h"
#include "harness/profile/conditions.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Times and counts one configuration on one workload in workers of its own and assembles the profile. Throws
// EnvironmentError when the configuration does not run, and UserError for a metric of `choice` that the GPU does not
// have. Unreadable counters are recorded as missing.
Profile measure_profile(const Runtime& runtime, const Configuration& configuration, const Workload& workload,
                        const Machine& machine, const std::vector<Roof>& roofs, CachePolicy cache, Observer& observer,
                        const CounterChoice& choice = {});

}  // namespace apo
