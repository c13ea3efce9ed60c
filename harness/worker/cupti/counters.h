// harness/worker/cupti/counters.h - collects hardware counters on the GPU, launch by launch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// The profiled call. Both functions return CUDA's error.
struct ProfiledCall {
  std::vector<std::string> kernels;  // of one call, in launch order
  // Set when the call repeats exactly after `prepare`, which then precedes every pass. Otherwise CUPTI repeats each
  // launch by itself, which takes some 17 ms each time, and restores memory in between, which fills the caches with it.
  bool repeatable = false;
  std::function<cuda::Result()> prepare;  // poisons the tensors and flushes or fills the L2; not counted
  // Launches the kernels of one call, each finished before the next. No other launch is allowed here.
  std::function<cuda::Result()> launch;
};

// Collects `metrics` for every launch of a call, which is repeated for every pass. The report names problems of the
// profiler; `error` is the kernels' own. Everything of the profiler is removed: a session that outlives the module of a
// kernel that it counted crashes the driver at the next launch (seen with CUDA 13.0).
CounterReport collect_counters(const ProfiledGpu& gpu, const ProfiledCall& call,
                               const std::vector<std::string>& metrics, cuda::Result& error);

}  // namespace apo
