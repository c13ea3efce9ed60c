// harness/worker/cuda/profiler.h - profiles a loaded slot with CUPTI: counters, PC samples, instruction counts.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "harness/worker/cuda/tensors.h"
#include "harness/worker/cupti/activity.h"
#include "harness/worker/cupti/profilers.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// Runs one profiler at a time: each removes everything of CUPTI when it ends, and begins after the record of activity
// has released it.
class CudaProfiler {
 public:
  // All arguments have to outlive it.
  CudaProfiler(CudaSlots& slots, Activity& activity, SharedStatus& status, ProfiledGpu gpu)
      : slots_(slots), activity_(activity), status_(status), gpu_(std::move(gpu)) {}
  CudaProfiler(const CudaProfiler&) = delete;
  CudaProfiler& operator=(const CudaProfiler&) = delete;

  Result<CounterReport> count(const CountRequest& request);
  Result<SampleReport> sample_stalls(const SampleRequest& request);
  Result<InstructionReport> count_instructions(const InstructionRequest& request);

 private:
  static constexpr std::size_t kAllLaunches = std::numeric_limits<std::size_t>::max();

  template <class Report, class Collect>
  Result<Report> profile(int slot, const char* what, Collect collect);
  std::optional<Failure> begin(int slot);
  cuda::Result prepare(int slot, CachePolicy cache);
  cuda::Result launch(int slot, bool one_by_one, std::size_t first = 0, std::size_t end = kAllLaunches);
  cuda::Result reload(int slot, std::optional<Failure>& not_loaded);

  CudaSlots& slots_;
  Activity& activity_;
  SharedStatus& status_;
  ProfiledGpu gpu_;
};

}  // namespace apo
