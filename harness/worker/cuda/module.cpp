// harness/worker/cuda/module.cpp - loads modules, looks kernels up, launches them, names errors.
#include "harness/worker/cuda/module.h"

#include <fmt/format.h>

#include <array>

namespace apo {
namespace {

Outcome outcome_of(cuda::Result error) {
  switch (error) {
    case cuda::kOutOfMemory:
      return Outcome::out_of_memory;
    case cuda::kInvalidImage:
    case cuda::kNoBinaryForGpu:
    case cuda::kInvalidPtx:
    case cuda::kJitCompilerNotFound:
    case cuda::kUnsupportedPtxVersion:
    case cuda::kJitCompilationDisabled:
    case cuda::kInvalidSource:
    case cuda::kNotFound:
      return Outcome::wrong_abi;
    case cuda::kInvalidValue:
    case cuda::kLaunchOutOfResources:
    case cuda::kCooperativeLaunchTooLarge:
    case cuda::kInvalidClusterSize:
    case cuda::kNotSupported:
      return Outcome::refused;
    case cuda::kLaunchTimeout:
      return Outcome::timed_out;
    default:
      return Outcome::faulted;
  }
}

// Errors that no kernel can cause: the GPU, its context or the server that shares it is gone, or its memory is broken.
// A launch failure or an unknown error may be either's; the parent finds out (gpu_check.h).
bool is_of_device(cuda::Result error) {
  switch (error) {
    case cuda::kDeinitialized:
    case cuda::kDeviceUnavailable:
    case cuda::kNoDevice:
    case cuda::kInvalidDevice:
    case cuda::kInvalidContext:
    case cuda::kEccUncorrectable:
    case cuda::kNvlinkUncorrectable:
    case cuda::kContained:
    case cuda::kContextIsDestroyed:
    case cuda::kSystemNotReady:
    case cuda::kMpsRpcFailure:
    case cuda::kMpsServerNotReady:
    case cuda::kMpsClientTerminated:
      return true;
    default:
      return false;
  }
}

std::optional<Failure> load_kernel(const cuda::Driver& driver, CudaModule& loaded, const KernelLaunch& launch,
                                   int slot) {
  CudaKernel kernel{.launch = launch};
  if (auto failure = cuda_failure(driver, driver.get_function(&kernel.function, loaded.module, launch.kernel.c_str()),
                                  "the kernel '" + launch.kernel + "'", slot)) {
    return failure;
  }
  const auto shared = static_cast<int>(launch.shared_bytes);
  if (auto failure = cuda_failure(
          driver, driver.set_function_attribute(kernel.function, cuda::kFunctionDynamicSharedBytes, shared),
          fmt::format("the kernel '{}' cannot have {} bytes of shared memory", launch.kernel, shared), slot)) {
    failure->outcome = Outcome::refused;
    return failure;
  }
  const std::int64_t cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  constexpr std::int64_t kPortableCluster = 8;
  if (cluster > kPortableCluster) {
    if (auto failure =
            cuda_failure(driver, driver.set_function_attribute(kernel.function, cuda::kFunctionNonPortableCluster, 1),
                         fmt::format("the kernel '{}' cannot have clusters of {}", launch.kernel, cluster), slot)) {
      return failure;
    }
  }
  loaded.kernels.push_back(kernel);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> kernel_names(const CudaModule& loaded) {
  std::vector<std::string> names;
  for (const CudaKernel& kernel : loaded.kernels) {
    names.push_back(kernel.launch.kernel);
  }
  return names;
}

std::vector<std::int64_t> launched_warps(const LaunchPlan& plan) {
  constexpr std::int64_t kWarp = 32;
  std::vector<std::int64_t> warps;
  for (const KernelLaunch& one : plan.launches) {
    const std::int64_t threads = one.block[0] * one.block[1] * one.block[2];
    warps.push_back(one.grid[0] * one.grid[1] * one.grid[2] * ((threads + kWarp - 1) / kWarp));
  }
  return warps;
}

std::optional<Failure> cuda_failure(const cuda::Driver& driver, cuda::Result error, const std::string& what, int slot) {
  if (error == cuda::kSuccess) {
    return std::nullopt;
  }
  return Failure{outcome_of(error), what + ": " + cuda::describe(driver, error), slot, is_of_device(error)};
}

std::optional<Failure> load_module(const cuda::Driver& driver, CudaModule& loaded, int slot) {
  if (auto failure = cuda_failure(driver, driver.load_module(&loaded.module, loaded.image.c_str()),
                                  "the cubin does not load", slot)) {
    loaded.module = nullptr;
    return failure;
  }
  loaded.kernels.clear();
  for (const KernelLaunch& launch : loaded.plan.launches) {
    if (auto failure = load_kernel(driver, loaded, launch, slot)) {
      return failure;
    }
  }
  return std::nullopt;
}

void keep_variables(const cuda::Driver& driver, CudaModule& loaded) {
  loaded.restorable = loaded.plan.keeps_state && loaded.variables.keep(driver, loaded.module, loaded.image);
}

void unload_module(const cuda::Driver& driver, CudaModule& loaded) {
  loaded.variables.forget(driver);
  loaded.restorable = false;
  if (loaded.module != nullptr) {
    driver.unload_module(loaded.module);  // fails only after a sticky error, which the next call reports
    loaded.module = nullptr;
  }
}

std::optional<Failure> restore_module(const cuda::Driver& driver, CudaModule& loaded, int slot, cuda::Stream stream) {
  if (loaded.restorable) {
    return cuda_failure(driver, loaded.variables.restore(driver, stream), "putting back the module's variables", slot);
  }
  unload_module(driver, loaded);
  return load_module(driver, loaded, slot);
}

namespace {

// Whether the driver knows as many parameters as there are words, none of which is larger than a word.
bool takes_words(const cuda::Driver& driver, const CudaKernel& kernel) {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  const std::size_t count = kernel.launch.words.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (driver.parameter_info(kernel.function, i, &offset, &bytes) != cuda::kSuccess || bytes > sizeof(std::uint64_t)) {
      return false;
    }
  }
  return driver.parameter_info(kernel.function, count, &offset, &bytes) != cuda::kSuccess;
}

}  // namespace

// The driver reads as many bytes as the kernel declares; the argument struct has to have exactly that many.
std::optional<Failure> check_parameters(const cuda::Driver& driver, const CudaModule& loaded, std::size_t expected,
                                        int slot) {
  if (driver.parameter_info == nullptr) {
    return std::nullopt;  // before CUDA 12.4 the driver does not tell
  }
  for (const CudaKernel& kernel : loaded.kernels) {
    if (!kernel.launch.words.empty()) {
      if (!takes_words(driver, kernel)) {
        return Failure{Outcome::wrong_abi,
                       fmt::format("the kernel '{}' does not take {} parameters of at most 8 bytes",
                                   kernel.launch.kernel, kernel.launch.words.size()),
                       slot};
      }
      continue;
    }
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::size_t ignored = 0;
    const bool one = driver.parameter_info(kernel.function, 0, &offset, &bytes) == cuda::kSuccess;
    const bool two = driver.parameter_info(kernel.function, 1, &offset, &ignored) == cuda::kSuccess;
    if (!one || two || bytes != expected) {
      return Failure{Outcome::wrong_abi,
                     fmt::format("the kernel '{}' does not take the generated argument struct of {} bytes as its only "
                                 "parameter",
                                 kernel.launch.kernel, expected),
                     slot};
    }
  }
  return std::nullopt;
}

cuda::Result launch_kernel(const cuda::Driver& driver, const CudaKernel& kernel, std::vector<std::uint64_t>& words,
                           std::int64_t persisting_bytes, cuda::Stream stream) {
  std::array<cuda::LaunchAttribute, 3> attributes{};
  unsigned count = 0;
  const KernelLaunch& plan = kernel.launch;
  const auto sizes = [](const std::array<std::int64_t, 3>& from) {
    return std::array<unsigned, 3>{static_cast<unsigned>(from[0]), static_cast<unsigned>(from[1]),
                                   static_cast<unsigned>(from[2])};
  };
  if (plan.cooperative) {
    attributes.at(count).id = cuda::kCooperative;
    attributes.at(count++).cooperative = 1;
  }
  if (plan.cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
    attributes.at(count).id = cuda::kClusterDimension;
    attributes.at(count++).cluster = sizes(plan.cluster);
  }
  if (plan.persist > 0 && persisting_bytes > 0) {
    const std::uint64_t base = words.at(static_cast<std::size_t>(plan.persist - 1));
    attributes.at(count).id = cuda::kAccessPolicyWindow;
    attributes.at(count++).window = {.base = reinterpret_cast<void*>(base),
                                     .bytes = static_cast<std::size_t>(persisting_bytes),
                                     .hit_ratio = 1.0F,
                                     .hit_property = cuda::kPropertyPersisting,
                                     .miss_property = cuda::kPropertyStreaming};
  }
  const cuda::LaunchConfig config{.grid = sizes(plan.grid),
                                  .block = sizes(plan.block),
                                  .shared_bytes = static_cast<unsigned>(plan.shared_bytes),
                                  .stream = stream,
                                  .attributes = attributes.data(),
                                  .attribute_count = count};
  std::uint64_t null = 0;
  std::vector<void*> parameters = {words.data()};
  if (!plan.words.empty()) {
    parameters.clear();
    for (const int word : plan.words) {
      parameters.push_back(word < 0 ? &null : &words.at(static_cast<std::size_t>(word)));
    }
  }
  return driver.launch(&config, kernel.function, parameters.data(), nullptr);
}

}  // namespace apo
