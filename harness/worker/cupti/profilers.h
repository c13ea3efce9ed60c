// harness/worker/cupti/profilers.h - what CUPTI tells of a call: counters, PC samples, instruction counts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/worker/code/kernel_code.h"
#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// The profiled call. Both functions return CUDA's error.
struct ProfiledCall {
  std::vector<LaunchedKernel> kernels;  // of one call, in launch order
  std::vector<bool> are_kernels;        // of its operations, which are also fills and copies where it is recorded
  // Set when the call repeats exactly after `prepare`, which then precedes every pass. Otherwise CUPTI repeats each
  // launch by itself, which takes some 17 ms each time, and restores memory in between, which fills the caches with it.
  bool repeatable = false;
  std::function<cuda::Result()> prepare;  // poisons the tensors and flushes or fills the L2; not counted
  // Launches the kernels of one call, each finished before the next. No other launch is allowed here.
  std::function<cuda::Result()> launch;
};

// The numbers of the kernels' ranges, in launch order, where CUPTI made so many ranges: of the kernels alone, or of all
// operations, as a driver may fill memory by a kernel of its own. Empty where it can be neither.
std::vector<std::size_t> kernel_ranges(const std::vector<bool>& are_kernels, std::size_t ranges);

// Collects `metrics` for every launch of a call, which is repeated for every pass. The report names problems of the
// profiler; `error` is the kernels' own. Everything of the profiler is removed: a session that outlives the module of a
// kernel that it counted crashes the driver at the next launch (seen with CUDA 13.0).
CounterReport collect_counters(const ProfiledGpu& gpu, const ProfiledCall& call,
                               const std::vector<std::string>& metrics, cuda::Result& error);

// The profiled call. Its kernels run much slower, so it gives no times.
struct CountedCall {
  std::vector<LaunchedKernel> kernels;   // of one call, in launch order
  bool keeps_state = false;              // launches leave something in the module's variables, which a reload resets
  std::function<cuda::Result()> reload;  // loads the cubins anew, so that CUPTI sees them
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

struct SampledCall {
  std::vector<LaunchedKernel> kernels;    // of one call
  std::function<cuda::Result()> reload;   // as in CountedCall
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
