// harness/profile/gpu/measure_gpu.h - a profile on a GPU: events, Activity, PC samples, counters, counts of
// instructions.
#pragma once

#include <string>
#include <vector>

#include "harness/profile/gpu/profile_processes.h"
#include "harness/profile/host/host_profile.h"

namespace apo {

// Which hardware counters of a GPU are read besides the times.
struct CounterChoice {
  std::vector<std::string> metrics;  // these alone; empty: the default set, or the full one
  bool full = false;
};

// `measured` is what is known before anything runs; `source` is the variant's file. What measure_profile() throws.
Profile profile_on_cuda(const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                        ProfileInputs measured, const CounterChoice& choice, const std::string& source);

}  // namespace apo
