// harness/worker/cuda/profiler.cpp - passes the loaded kernels to one of CUPTI's profilers.
#include "harness/worker/cuda/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/nvtx.h"
#include "harness/worker/cupti/profilers.h"

namespace apo {
namespace {

bool is_kernel(const CudaOperation& operation) {
  return !operation.recorded || operation.recorded->kernel;
}

}  // namespace

// Begins and ends every profile of a slot; collect(not_loaded, error) makes the report in between.
template <class Report, class Collect>
Result<Report> CudaProfiler::profile(int slot, const char* what, Collect collect) {
  if (auto failure = begin(slot)) {
    return *failure;
  }
  std::optional<Failure> not_loaded;
  cuda::Result error = cuda::kSuccess;
  Report report = collect(not_loaded, error);
  if (not_loaded) {
    return *not_loaded;
  }
  if (auto failure = slots_.check(error, what, slot)) {
    return *failure;
  }
  status_.running_slot.store(-1);
  return report;
}

std::optional<Failure> CudaProfiler::begin(int slot) {
  const CudaModule& loaded = slots_.at(slot);
  if (loaded.operations.empty() || !slots_.tensors().attached()) {
    throw std::logic_error("asked to profile before load and attach");
  }
  status_.running_slot.store(slot);
  slots_.last_image = 0;
  return slots_.check(slots_.reset_l2(loaded.plan), "cannot reset the persisting L2", slot);
}

// Warm: one call fills the caches. No gate: a profiler that runs each launch to its end would wait for it for ever.
cuda::Result CudaProfiler::prepare(int slot, CachePolicy cache) {
  const CudaVariables& variables = slots_.at(slot).variables;
  cuda::Result error = variables.restore(slots_.driver(), slots_.stream());
  error = error != cuda::kSuccess ? error : slots_.prepare(cache, {0}, slot);
  if (error == cuda::kSuccess && cache == CachePolicy::warm) {
    error = launch(slot, false);
    error = error != cuda::kSuccess ? error : variables.restore(slots_.driver(), slots_.stream());
    error = error != cuda::kSuccess ? error : slots_.tensors().fill_before_call({0}, slots_.stream());
  }
  return error != cuda::kSuccess ? error : slots_.driver().synchronize(slots_.stream());
}

// Runs those launches of a call, each behind the fills and copies before it.
cuda::Result CudaProfiler::launch(int slot, bool one_by_one, std::size_t first, std::size_t end) {
  const CudaModule& loaded = slots_.at(slot);
  std::vector<std::uint64_t> words = slots_.tensors().arguments(0, slot, 0);
  std::size_t kernel = 0;
  for (const CudaOperation& one : loaded.operations) {
    const std::size_t at = kernel;
    kernel += is_kernel(one) ? 1U : 0U;
    if (at < first || at >= end) {
      continue;
    }
    cuda::Result error = slots_.launch(one, words);
    error = error == cuda::kSuccess && one_by_one ? slots_.driver().synchronize(slots_.stream()) : error;
    if (error != cuda::kSuccess) {
      return error;
    }
  }
  return cuda::kSuccess;
}

// For a profiler that has to see the module being loaded.
cuda::Result CudaProfiler::reload(int slot, std::optional<Failure>& not_loaded) {
  CudaModule& loaded = slots_.at(slot);
  unload_module(slots_.driver(), loaded);
  not_loaded = load_module(slots_.driver(), loaded, slot);
  return not_loaded ? cuda::kNotFound : cuda::kSuccess;
}

Result<CounterReport> CudaProfiler::count(const CountRequest& request) {
  const StageRange range(fmt::format("count slot{}", request.slot));
  return profile<CounterReport>(request.slot, "the kernel under the range profiler", [&](auto&, cuda::Result& error) {
    const CudaModule& loaded = slots_.at(request.slot);
    std::vector<bool> are_kernels;
    for (const CudaOperation& one : loaded.operations) {
      are_kernels.push_back(is_kernel(one));
    }
    const ProfiledCall call{.kernels = launched_kernels(loaded),
                            .are_kernels = std::move(are_kernels),
                            .repeatable = !loaded.plan.keeps_state || loaded.restorable,
                            .prepare = [&] { return prepare(request.slot, request.cache); },
                            .launch = [&] { return launch(request.slot, true); }};
    return collect_counters(gpu_, call, request.metrics, error);
  });
}

Result<SampleReport> CudaProfiler::sample_stalls(const SampleRequest& request) {
  const StageRange range(fmt::format("sample slot{}", request.slot));
  return profile<SampleReport>(
      request.slot, "the kernel under PC sampling", [&](std::optional<Failure>& not_loaded, cuda::Result& error) {
        const SampledCall call{.kernels = launched_kernels(slots_.at(request.slot)),
                               .reload = [&] { return reload(request.slot, not_loaded); },
                               .prepare = [&] { return prepare(request.slot, request.cache); },
                               .prepares_with = kEvictionKernel,
                               .launch = [&] { return launch(request.slot, false); },
                               .wait = [&] { return slots_.driver().synchronize(slots_.stream()); }};
        return apo::sample_stalls(gpu_, call, request.repetitions, request.period_log2, error);
      });
}

Result<InstructionReport> CudaProfiler::count_instructions(const InstructionRequest& request) {
  const StageRange range(fmt::format("count instructions slot{}", request.slot));
  return profile<InstructionReport>(
      request.slot, "the kernel while its instructions were counted",
      [&](std::optional<Failure>& not_loaded, cuda::Result& error) {
        const CudaModule& loaded = slots_.at(request.slot);
        const CountedCall call{
            .kernels = launched_kernels(loaded),
            .keeps_state = loaded.plan.keeps_state,
            .reload = [&] { return reload(request.slot, not_loaded); },
            .prepare = [&] { return prepare(request.slot, CachePolicy::cold); },
            .launch = [&](std::size_t first, std::size_t end) { return launch(request.slot, true, first, end); },
            .wait = [&] { return slots_.driver().synchronize(slots_.stream()); }};
        return apo::count_instructions(gpu_, call, request.kernel, error);
      });
}

}  // namespace apo
