// harness/worker/cupti/pc_sampling.h - samples where the warps of a kernel stand and why.
#pragma once

#include <functional>
#include <string>

#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

struct SampledCall {
  std::string cubin;                      // whose line table maps offsets to source lines
  std::function<cuda::Result()> reload;   // loads the cubin anew, so that CUPTI sees it
  std::function<cuda::Result()> prepare;  // as in ProfiledCall; its fills are not among the samples
  std::string prepares_with;              // a kernel of prepare()'s, whose samples are not the call's
  std::function<cuda::Result()> launch;   // queues the kernels of one call
  std::function<cuda::Result()> wait;     // until the GPU is idle
};

// Samples `repetitions` calls every 2^`period_log2` cycles of each SM (5 to 31). The report names problems of the
// profiler; `error` is the kernels' own.
SampleReport sample_stalls(const ProfiledGpu& gpu, const SampledCall& call, int repetitions, int period_log2,
                           cuda::Result& error);

}  // namespace apo
