// harness/worker/cuda/module.cpp - loads modules, looks kernels up, launches them, names errors.
#include "harness/worker/cuda/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"

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
// A launch failure or an unknown error may be either's; the parent finds out (worker_exchange.cpp).
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
  CudaOperation kernel{.launch = launch};
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
  loaded.operations.push_back(kernel);
  return std::nullopt;
}

}  // namespace

std::vector<LaunchedKernel> launched_kernels(const CudaModule& loaded) {
  constexpr std::int64_t kWarp = 32;
  std::vector<LaunchedKernel> kernels;
  for (const CudaOperation& one : loaded.operations) {
    const auto add = [&](const std::string& name, const auto& grid, const auto& block, std::string_view cubin) {
      const std::int64_t threads = block[0] * block[1] * block[2];
      kernels.push_back({name, grid[0] * grid[1] * grid[2] * ((threads + kWarp - 1) / kWarp), cubin});
    };
    if (!one.recorded) {
      add(one.launch.kernel, one.launch.grid, one.launch.block, loaded.image);
    } else if (const auto& kernel = one.recorded->kernel) {
      add(kernel->name, kernel->grid, kernel->block,
          loaded.recorded_images.at(static_cast<std::size_t>(kernel->module)));
    }
  }
  return kernels;
}

std::optional<Failure> cuda_failure(const cuda::Driver& driver, cuda::Result error, const std::string& what, int slot) {
  if (error == cuda::kSuccess) {
    return std::nullopt;
  }
  return Failure{outcome_of(error), what + ": " + cuda::describe(driver, error), slot, is_of_device(error)};
}

std::optional<Failure> load_module(const cuda::Driver& driver, CudaModule& loaded, int slot) {
  if (loaded.plan.recorded) {
    return load_recorded(driver, loaded, slot);
  }
  if (auto failure = cuda_failure(driver, driver.load_module(&loaded.module, loaded.image.c_str()),
                                  "the cubin does not load", slot)) {
    loaded.module = nullptr;
    return failure;
  }
  return load_kernels(driver, loaded, slot);
}

std::optional<Failure> load_kernels(const cuda::Driver& driver, CudaModule& loaded, int slot) {
  loaded.operations.clear();
  for (const KernelLaunch& launch : loaded.plan.launches) {
    if (auto failure = load_kernel(driver, loaded, launch, slot)) {
      return failure;
    }
  }
  return std::nullopt;
}

void keep_variables(const cuda::Driver& driver, CudaModule& loaded) {
  if (!loaded.plan.recorded) {
    loaded.restorable = loaded.plan.keeps_state && loaded.variables.keep(driver, {{loaded.module, loaded.image}});
  }
}

void unload_module(const cuda::Driver& driver, CudaModule& loaded) {
  loaded.variables.forget(driver);
  loaded.restorable = false;
  if (loaded.module != nullptr) {
    driver.unload_module(loaded.module);  // fails only after a sticky error, which the next call reports
    loaded.module = nullptr;
  }
  for (const cuda::Module module : loaded.more_modules) {
    driver.unload_module(module);
  }
  for (const CudaRange& range : loaded.memory) {
    driver.free(range.at);
  }
  for (void* const pinned : loaded.pinned) {
    driver.free_host(pinned);
  }
  loaded.more_modules.clear();
  loaded.memory.clear();
  loaded.pinned.clear();
}

std::optional<Failure> restore_module(const cuda::Driver& driver, CudaModule& loaded, int slot, cuda::Stream stream) {
  if (loaded.restorable) {
    return cuda_failure(driver, loaded.variables.restore(driver, stream), "putting back the module's variables", slot);
  }
  unload_module(driver, loaded);
  return load_module(driver, loaded, slot);
}

// The driver reads as many bytes as the kernel declares; the argument struct has to have exactly that many, and of
// words none is larger.
std::optional<Failure> check_parameters(const cuda::Driver& driver, const CudaModule& loaded, std::size_t expected,
                                        const std::vector<std::int64_t>& tensor_bytes, int slot) {
  for (const CudaOperation& operation : loaded.operations) {
    if (operation.recorded && !fits_tensors(*operation.recorded, tensor_bytes)) {
      return Failure{Outcome::wrong_abi, "the recording works on memory outside of the tensors of the call", slot};
    }
  }
  if (driver.parameter_info == nullptr) {
    return std::nullopt;  // before CUDA 12.4 the driver does not tell
  }
  for (const CudaOperation& kernel : loaded.operations) {
    if (kernel.recorded) {
      continue;  // with its parameters
    }
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const auto has = [&](std::size_t parameter) {
      return driver.parameter_info(kernel.function, parameter, &offset, &bytes) == cuda::kSuccess;
    };
    if (!has(0) || bytes != expected || has(1)) {
      return Failure{
          Outcome::wrong_abi,
          fmt::format("the kernel '{}' does not take the generated argument struct of {} bytes as its only parameter",
                      kernel.launch.kernel, expected),
          slot};
    }
  }
  return std::nullopt;
}

cuda::Result launch_kernel(const cuda::Driver& driver, const CudaOperation& kernel, std::vector<std::uint64_t>& words,
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
  void* parameters = words.data();
  return driver.launch(&config, kernel.function, &parameters, nullptr);
}

namespace {

constexpr std::size_t kLongestVariable = std::size_t{16} << 20;  // copying more takes longer than loading a module

}  // namespace

bool CudaVariables::worked(const cuda::Driver& driver, cuda::Result result, const std::string& what) {
  if (result != cuda::kSuccess) {
    why_not_ = what + ": " + cuda::describe(driver, result);
  }
  return result == cuda::kSuccess;
}

// Variables of one section that lie as far apart as there are copied as one. Memory between two sections may be
// nobody's.
bool CudaVariables::find(const cuda::Driver& driver, const LoadedImage& loaded, std::size_t& total) {
  const std::size_t before = ranges_.size();
  for (const CudaVariable& one : variables_in(loaded.image)) {
    Range range{.section = one.section, .offset = one.offset};
    if (!worked(driver, driver.get_global(&range.at, &range.bytes, loaded.module, one.name.c_str()), one.name)) {
      return false;
    }
    Range* const last = ranges_.size() == before ? nullptr : &ranges_.back();
    if (last != nullptr && last->section == one.section && range.at - last->at == one.offset - last->offset) {
      const std::size_t end = std::max<std::size_t>(last->bytes, one.offset - last->offset + range.bytes);
      total += end - last->bytes;
      last->bytes = end;
    } else {
      range.kept_at = total;
      total += range.bytes;
      ranges_.push_back(range);
    }
  }
  if (total > kLongestVariable) {
    why_not_ = "they have " + format_bytes(static_cast<double>(total));
  }
  return total <= kLongestVariable;
}

bool CudaVariables::keep(const cuda::Driver& driver, const std::vector<LoadedImage>& modules,
                         const std::vector<CudaRange>& memory) {
  forget(driver);
  why_not_.clear();
  bool kept = true;
  std::size_t total = 0;
  try {
    kept = std::ranges::all_of(modules, [&](const LoadedImage& loaded) { return find(driver, loaded, total); });
    for (const CudaRange& range : memory) {
      ranges_.push_back({.at = range.at, .bytes = range.bytes, .kept_at = total});
      total += range.bytes;
    }
    kept = kept && (total == 0 || worked(driver, driver.allocate(&kept_, total), "memory for a copy"));
  } catch (const EnvironmentError& error) {
    why_not_ = error.what();  // not a cubin, but PTX that the driver compiled
  }
  // By way of the host: to initcheck of compute-sanitizer what was copied from constants on the GPU was never written.
  std::vector<char> values(ranges_.empty() ? 0 : ranges_.back().kept_at + ranges_.back().bytes);
  for (const Range& range : ranges_) {
    kept = kept && worked(driver, driver.copy_to_host(values.data() + range.kept_at, range.at, range.bytes),
                          fmt::format("reading {} bytes", range.bytes));
  }
  kept = kept && (values.empty() ||
                  worked(driver, driver.copy_to_device(kept_, values.data(), values.size()), "writing the copy"));
  if (!kept) {
    forget(driver);
  }
  return kept;
}

cuda::Result CudaVariables::restore(const cuda::Driver& driver, cuda::Stream stream) const {
  for (const Range& range : ranges_) {
    if (const auto error = driver.copy_on_device(range.at, kept_ + range.kept_at, range.bytes, stream);
        error != cuda::kSuccess) {
      return error;
    }
  }
  return cuda::kSuccess;
}

void CudaVariables::forget(const cuda::Driver& driver) {
  if (kept_ != 0) {
    driver.free(kept_);  // fails only after a sticky error, which the next call reports
  }
  kept_ = 0;
  ranges_.clear();
}

}  // namespace apo
