// harness/worker/cupti/counters.h - collects hardware counters on the GPU, launch by launch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// What is profiled. Both return CUDA's error.
struct ProfiledCall {
  std::vector<std::string> kernels;  // of one call, in launch order
  // The call does the same again after `prepare`, which then comes before every pass. Else CUPTI repeats each launch
  // by itself, some 17 ms each time, and restores memory in between, which leaves the caches full of it.
  bool repeatable = false;
  std::function<cuda::Result()> prepare;  // poisons the tensors and flushes or fills the L2; not counted
  // Launches the kernels of one call, each finished before the next. Nothing else may be launched here.
  std::function<cuda::Result()> launch;
};

// Collects `metrics` for every launch of a call, which is repeated for every pass. Trouble with the profiler stands in
// the report; `error` is the kernels' own. Nothing of the profiler is left behind: a session that outlives the module
// of a kernel that it counted brings the driver down at the next launch (seen with CUDA 13.0).
CounterReport collect_counters(const ProfiledGpu& gpu, const ProfiledCall& call,
                               const std::vector<std::string>& metrics, cuda::Result& error);

}  // namespace apo
