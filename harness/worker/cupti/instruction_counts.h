// harness/worker/cupti/instruction_counts.h - how often each instruction of a kernel is executed, counted exactly in
// code that CUPTI patches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// The profiled call. Its kernels run much slower, so it gives no times.
struct CountedCall {
  std::string cubin;
  std::vector<std::string> kernels;      // of one call, in launch order
  std::vector<std::int64_t> warps;       // of each of these launches
  bool keeps_state = false;              // launches leave something in the module's variables, which a reload resets
  std::function<cuda::Result()> reload;  // loads the cubin anew, so that CUPTI sees it
  std::function<cuda::Result()> prepare;
  // Makes these launches of a call, each finished before the next.
  std::function<cuda::Result(std::size_t first, std::size_t end)> launch;
  std::function<cuda::Result()> wait;  // until the GPU is idle
};

// CUPTI's names of the counted quantities, in the order of CountedOf.
const std::vector<std::string>& instruction_counters();

// Counts every kernel of the call, or only `kernel`, which is then the only one that CUPTI touches. The report names
// problems of the profiler; `error` is the kernels' own.
InstructionReport count_instructions(const ProfiledGpu& gpu, const CountedCall& call, const std::string& kernel,
                                     cuda::Result& error);

}  // namespace apo
