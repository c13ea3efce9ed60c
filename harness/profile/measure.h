// harness/profile/measure.h - the profile stage's measurements: calls at every thread count, counters apart from times.
#pragma once

#include <string>

#include "harness/core/observer.h"
#include "harness/profile/gpu/measure_gpu.h"
#include "harness/runtime/runtime.h"

namespace apo {

// "cold caches", how the conditions of every profile begin.
std::string caches_text(CachePolicy cache);

// Times and counts one configuration on one workload in workers of its own and assembles the profile. Throws
// EnvironmentError when the configuration does not run, and UserError for a metric of `choice` that the GPU does not
// have. Counters that cannot be read are only missing.
Profile measure_profile(const Runtime& runtime, const Configuration& configuration, const Workload& workload,
                        const Machine& machine, const std::vector<Roof>& roofs, CachePolicy cache, Observer& observer,
                        const CounterChoice& choice = {});

}  // namespace apo
