// harness/worker/cupti/pc_sampling.h - samples where the warps of a kernel stand and why.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/worker/cupti/counters.h"
#include "harness/worker/cupti/pc_sampling_api.h"

namespace apo {

struct SampledCall {
  std::string cubin;                      // whose line table maps offsets to source lines
  std::function<cuda::Result()> reload;   // loads the cubin anew, so that CUPTI sees it
  std::function<cuda::Result()> prepare;  // as in ProfiledCall; its fills are not among the samples
  std::function<cuda::Result()> launch;   // queues the kernels of one call
  std::function<cuda::Result()> wait;     // until the GPU is idle
};

// Where an instruction comes from, by the line table of its cubin; line 0 where that has none. Needs no GPU.
struct SourcePlace {
  std::string file;  // without its folder
  int line = 0;
};
SourcePlace source_place(const cupti::Sampling& sampling, const std::string& cubin, const std::string& kernel,
                         std::uint64_t pc_offset);

// Samples `repetitions` calls every 2^`period_log2` cycles of each SM (5 to 31). Trouble with the profiler stands in
// the report; `error` is the kernels' own.
SampleReport sample_stalls(const ProfiledGpu& gpu, const SampledCall& call, int repetitions, int period_log2,
                           cuda::Result& error);

}  // namespace apo
