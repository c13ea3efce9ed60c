// harness/profile/roofs/gpu_roofs.cpp - the table of the roof kernels, and how a worker runs them.
#include "harness/profile/roofs/gpu_roofs.h"

#include <algorithm>

#include "gpu_roof_source.h"
#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/profile/gpu/occupancy.h"
#include "harness/profile/roofs/roofs.h"
#include "harness/profile/summary.h"
#include "harness/runtime/runtime.h"

namespace apo {

std::string cuda_roof_source(const DeviceFacts& device) {
  // wgmma is in sm_90a, which runs on compute capability 9.0 alone.
  return replace_all(kCudaRoofSource, "cuda sm_80", device.arch() == "sm_90" ? "cuda sm_90a" : "cuda sm_80");
}

const std::vector<CudaRoofKernel>& cuda_roof_kernels() {
  constexpr double kCopied = 2 * 4 * 16;                     // four vectors of 16 bytes, read and written
  constexpr double kMultiplyAdds = 2 * 256;                  // flops
  constexpr double kProducts = 32.0 * 2 * 16 * 8 * 16 / 32;  // 32 products of a warp, a lane's part of their flops
  constexpr int kLaunches = 150;                             // fewer than a sample may queue before it starts
  static const std::vector<CudaRoofKernel> kernels = {
      {"l2_copy", "copy_vectors", "byte/s", "COPY_STEPS", kCopied,
       "16 bytes a lane, L1 bypassed, tensors within the L2"},
      {"memory_copy", "copy_vectors", "byte/s", "COPY_STEPS", kCopied, "16 bytes a lane, tensors far beyond the L2",
       Footprint::memory},
      {"shared_bandwidth", "shared_bandwidth", "byte/s", "SHARED_STEPS", 16 * 16,
       "16 bytes a lane, no bank conflicts, 1024 threads an SM"},
      {"fp32_fma", "fp32_fma", "flop/s", "FMA_STEPS", kMultiplyAdds,
       "8 independent multiply-adds a thread, 1024 threads an SM"},
      {"special_tanh", "special_tanh", "op/s", "SPECIAL_STEPS", 32, "tanh.approx.f32, 1024 threads an SM"},
      {"special_ex2", "special_ex2", "op/s", "SPECIAL_STEPS", 32, "ex2.approx.ftz.f32, 1024 threads an SM"},
      {"libm_tanh", "libm_tanh", "op/s", "LIBM_STEPS", 8, "tanhf of CUDA's library without fast math"},
      {"shuffle", "shuffle", "op/s", "SHUFFLE_STEPS", 40, "lanes of __shfl_xor_sync, 1024 threads an SM"},
      {"tensor_bf16", "tensor_bf16", "flop/s", "TENSOR_STEPS", kProducts,
       "bf16 with fp32 sums, by wgmma m64n128k16 on compute capability 9.0 and by mma.sync m16n8k16 on others"},
      {"barrier", "barrier", "s", "LATENCY_STEPS", 32, "__syncthreads of a block of 256 threads alone on its SM"},
      {"fma_latency", "fma_latency", "s", "LATENCY_STEPS", 32, "a multiply-add that waits for the one before"},
      {"special_latency", "special_latency", "s", "LATENCY_STEPS", 32,
       "a tanh.approx.f32 that waits for the one before"},
      {"shuffle_latency", "shuffle_latency", "s", "LATENCY_STEPS", 32, "a shuffle that waits for the one before"},
      {"shared_latency", "shared_latency", "s", "LATENCY_STEPS", 32, "a shared-memory read at the address just read"},
      {"launch_latency", "launch_latency", "s", "", 1, "an empty kernel behind another one", Footprint::cache,
       kLaunches}};
  return kernels;
}

std::int64_t roof_tensor_floats(Footprint footprint, std::int64_t l2_bytes, int sms) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  const std::int64_t smallest = 16 * 1024 * std::max(1, sms);  // a vector for each of 1024 threads an SM
  const std::int64_t bytes = footprint == Footprint::cache ? l2_bytes / 8 : std::max(4 * l2_bytes, 256 * kMebibyte);
  return std::max(smallest, bytes) / 16 * 4;
}

Roof cuda_roof(const CudaRoofKernel& kernel, std::int64_t threads, std::int64_t steps,
               const std::vector<std::int64_t>& ns) {
  std::vector<double> values;
  for (const std::int64_t sample : ns) {
    const double seconds = 1e-9 * static_cast<double>(std::max<std::int64_t>(sample, 1)) / kernel.repetitions;
    const double one_thread = kernel.work * static_cast<double>(steps);
    values.push_back(kernel.unit == "s" ? seconds / one_thread : one_thread * static_cast<double>(threads) / seconds);
  }
  return roof_of(kernel.roof, kernel.unit, std::move(values), kernel.note);
}

Roof driver_copy_roof(std::int64_t bytes, const std::vector<std::int64_t>& ns) {
  std::vector<double> rates;
  for (const std::int64_t sample : ns) {
    rates.push_back(2e9 * static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(sample, 1)));
  }
  return roof_of("memory_copy", "byte/s", std::move(rates),
                 format_bytes(static_cast<double>(bytes)) + " copied by the driver, back to back");
}

bool has_all_cuda_roofs(const std::vector<Roof>& roofs) {
  const auto& kernels = cuda_roof_kernels();
  return std::all_of(kernels.begin(), kernels.end(), [&](const CudaRoofKernel& kernel) {
    const Roof* roof = find_roof(roofs, kernel.roof);
    // The note of memory_copy names the better of two ways.
    return roof != nullptr && (roof->note == kernel.note || kernel.footprint == Footprint::memory);
  });
}

namespace {

constexpr int kSamples = 20;
constexpr int kWarmupSamples = 3;
constexpr int kClockSamples = 32;  // of a request
constexpr int kClockRequests = 4;  // some 0.1 s of work: an idle GPU takes that long to raise its clock
constexpr const char* kFill = "fill_input";

// A shipped family, whose tensors and arguments are those of the kernels here.
const Family& spin() {
  const Family* family = find_family("spin");
  APO_CHECK(family != nullptr);
  return *family;
}

// Its steps do not matter.
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
    auto shared_tensors =
        std::make_unique<SharedTensors>(shared_tensors_spec(spin(), axes, 1, {}, {}, secret_seed(), Target::cuda));
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
  Build built = build(spin(), variant, axes);
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
