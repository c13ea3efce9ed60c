// harness/profile/gpu/measure_gpu.h - a profile on a GPU: times, PC samples, counters, instruction counts.
#pragma once

#include <string>
#include <vector>

#include "harness/profile/conditions.h"
#include "harness/profile/gpu/profile_processes.h"
#include "harness/profile/host/host_profile.h"

namespace apo {

// `measured` holds the facts known before any run; `sources` are the variant's files. Throws as measure_profile() does.
Profile profile_on_cuda(const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                        ProfileInputs measured, const CounterChoice& choice, const std::vector<SourceFile>& sources);

}  // namespace apo
