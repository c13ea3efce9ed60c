// harness/profile/roofs/measure_gpu_roofs.cpp - loads each roof kernel as a launch plan of its own in one worker.
#include "harness/profile/roofs/measure_gpu_roofs.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/profile/gpu/occupancy.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "harness/runtime/runtime.h"

namespace apo {
namespace {

constexpr int kSamples = 20;
constexpr int kWarmupSamples = 3;
constexpr int kClockSamples = 32;  // of a request
constexpr int kClockRequests = 4;  // some 0.1 s of work: an idle GPU takes that long to raise its clock
constexpr const char* kFill = "fill_input";

// The arguments of spin, whose steps do not matter here.
Axes axes_of(std::int64_t floats) {
  return {{"n", floats}, {"steps", 1}};
}

template <class T>
T value_of(const Result<T>& result, const std::string& what) {
  if (!result) {
    throw EnvironmentError("the roof " + what + " of the GPU cannot be measured: " + result.failure().evidence,
                           "'apo doctor' shows what works here");
  }
  return *result;
}

class RoofProcess {
 public:
  RoofProcess(const WorkerOptions& options, const DeviceFacts& device, Build build, Settings settings)
      : device_(device), build_(std::move(build)), settings_(std::move(settings)), worker_(options) {}

  // Replaces the tensors by ones of this footprint, with an input drawn on the GPU.
  void use(Footprint footprint) {
    const Axes axes = axes_of(roof_tensor_floats(footprint, device_.l2_bytes, device_.sms));
    load(kFill);
    // The shared tensors before is in use until the new one is attached.
    auto shared_tensors = std::make_unique<SharedTensors>(
        shared_tensors_spec(*find_family("spin"), axes, 1, {}, {}, secret_seed(), Target::cuda));
    value_of(worker_.attach(*shared_tensors), "tensors");
    shared_tensors_ = std::move(shared_tensors);
    value_of(worker_.call(0), "input");
  }

  void raise_clock(const CudaRoofKernel& kernel) {
    load(kernel.kernel);
    for (int request = 0; request < kClockRequests; ++request) {
      value_of(worker_.run({.order = std::vector<int>(kClockSamples, 0)}), kernel.roof);
    }
  }

  Roof measure(const CudaRoofKernel& kernel) {
    const std::int64_t threads = load(kernel.kernel);
    const RunRequest request{.order = std::vector<int>(kWarmupSamples + kSamples, 0),
                             .repetitions = kernel.repetitions};
    std::vector<std::int64_t> ns;
    for (const RawSample& sample : value_of(worker_.run(request), kernel.roof)) {
      ns.push_back(sample.device_ns);
    }
    ns.erase(ns.begin(), ns.begin() + kWarmupSamples);
    return cuda_roof(kernel, threads, kernel.steps.empty() ? 1 : settings_.at(kernel.steps), ns);
  }

  Roof measure_driver_copy() {
    const std::int64_t bytes = 4 * roof_tensor_floats(Footprint::memory, device_.l2_bytes, device_.sms);
    return driver_copy_roof(bytes, value_of(worker_.copy(bytes, kSamples), "memory_copy"));
  }

 private:
  // The number of threads of the launch.
  std::int64_t load(const std::string& kernel) {
    const auto& launches = build_.plan.launches;
    const auto found =
        std::find_if(launches.begin(), launches.end(), [&](const KernelLaunch& one) { return one.kernel == kernel; });
    APO_CHECK(found != launches.end());
    value_of(worker_.load(0, build_.object_path, LaunchPlan{.launches = {*found}}), kernel);
    return product(found->grid) * product(found->block);
  }

  const DeviceFacts& device_;
  Build build_;
  Settings settings_;
  std::unique_ptr<SharedTensors> shared_tensors_;  // outlives its use in the worker
  Worker worker_;
};

}  // namespace

std::vector<Roof> measure_cuda_roofs(const Variant& variant, const BuildVariant& build, const WorkerOptions& options,
                                     const DeviceFacts& device) {
  const Axes axes = axes_of(roof_tensor_floats(Footprint::cache, device.l2_bytes, device.sms));
  Build built = build(*find_family("spin"), variant, axes);
  const bool runs = built.outcome == Outcome::valid;
  if (!runs && built.outcome != Outcome::refused) {
    throw EnvironmentError("the kernels that measure the roofs do not build: " + built.evidence,
                           "'apo doctor' shows which CUDA compiler is used");
  }
  RoofProcess candidate(options, device, std::move(built), default_settings(variant));
  std::vector<Roof> roofs = {candidate.measure_driver_copy()};
  if (!runs) {
    return roofs;
  }
  const auto& kernels = cuda_roof_kernels();
  candidate.use(Footprint::cache);
  candidate.raise_clock(
      *std::find_if(kernels.begin(), kernels.end(), [](const auto& one) { return one.roof == "fp32_fma"; }));
  for (const Footprint footprint : {Footprint::cache, Footprint::memory}) {
    if (footprint == Footprint::memory) {
      candidate.use(footprint);
    }
    for (const CudaRoofKernel& kernel : kernels) {
      if (kernel.footprint == footprint) {
        roofs.push_back(candidate.measure(kernel));
      }
    }
  }
  // Of the two ways to copy, the better one is the roof. Ours came last.
  if (roofs.front().value > roofs.back().value) {
    std::swap(roofs.front(), roofs.back());
  }
  roofs.erase(roofs.begin());
  return roofs;
}

}  // namespace apo
