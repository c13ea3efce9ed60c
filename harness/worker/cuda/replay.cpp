// harness/worker/cuda/replay.cpp - loads a recorded call, and repeats its operations on other tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "harness/core/base64.h"
#include "harness/worker/cuda/module.h"

namespace apo {
namespace {

std::uint64_t word_at(const std::string& bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

// The operation's places: those in memory of the call's own are put into the parameters for good.
std::optional<Failure> place_memory(const cuda::Driver& driver, const CudaModule& loaded, CudaOperation& operation,
                                    const std::vector<RecordedPlace>& places, int slot) {
  for (const RecordedPlace& place : places) {
    if (place.memory < 0) {
      operation.places.push_back(place);
      continue;
    }
    const std::uint64_t address =
        loaded.memory.at(static_cast<std::size_t>(place.memory)).at + static_cast<std::uint64_t>(place.offset);
    if (auto failure = cuda_failure(driver, put_address(driver, operation.parameters, place, address),
                                    "cannot give a tensor map another address", slot)) {
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> find_kernel(const cuda::Driver& driver, CudaOperation& operation, cuda::Module module,
                                   int slot) {
  const RecordedKernel& kernel = *operation.recorded->kernel;
  cuda::Result error = driver.get_function(&operation.function, module, kernel.name.c_str());
  const auto set = [&](int attribute, int value) {
    error = error != 0 ? error : driver.set_function_attribute(operation.function, attribute, value);
  };
  set(cuda::kFunctionDynamicSharedBytes, static_cast<int>(kernel.most_shared_bytes));
  if (kernel.carveout >= 0) {
    set(cuda::kFunctionCarveout, kernel.carveout);
  }
  if (kernel.non_portable_cluster) {
    set(cuda::kFunctionNonPortableCluster, 1);
  }
  return cuda_failure(driver, error, "the recorded kernel '" + kernel.name + "'", slot);
}

// The places of a fill or copy, as parameters: where to, and where from.
std::vector<RecordedPlace> as_parameters(const RecordedOperation& operation) {
  std::vector<RecordedPlace> places = {operation.to};
  if (operation.from) {
    places.push_back(*operation.from);
    places.back().parameter = sizeof(std::uint64_t);
  }
  return places;
}

std::optional<Failure> load_operation(const cuda::Driver& driver, CudaModule& loaded,
                                      const std::vector<cuda::Module>& modules, const RecordedOperation& recorded,
                                      int slot) {
  CudaOperation operation{.recorded = recorded};
  if (const std::string& bytes = recorded.from_host; !bytes.empty()) {
    void* pinned = nullptr;
    if (auto failure = cuda_failure(driver, driver.allocate_host(&pinned, bytes.size(), 0),
                                    fmt::format("{} bytes of pinned memory", bytes.size()), slot)) {
      return failure;
    }
    loaded.pinned.push_back(pinned);
    operation.host = std::memcpy(pinned, bytes.data(), bytes.size());
    operation.recorded->from_host = {};
  }
  if (!recorded.kernel) {
    operation.parameters.resize(2 * sizeof(std::uint64_t));
    if (auto failure = place_memory(driver, loaded, operation, as_parameters(recorded), slot)) {
      return failure;
    }
  } else {
    operation.parameters = bytes_of_base64(recorded.kernel->parameters).value_or("");
    if (auto failure =
            find_kernel(driver, operation, modules.at(static_cast<std::size_t>(recorded.kernel->module)), slot)) {
      return failure;
    }
    if (auto failure = place_memory(driver, loaded, operation, recorded.kernel->places, slot)) {
      return failure;
    }
  }
  loaded.operations.push_back(std::move(operation));
  return std::nullopt;
}

// Gives the variables of a module what they held when the call began.
cuda::Result set_variables(const cuda::Driver& driver, cuda::Module module, const RecordedModule& recorded) {
  for (const RecordedVariable& variable : recorded.variables) {
    cuda::Pointer at = 0;
    std::size_t bytes = 0;
    cuda::Result error = driver.get_global(&at, &bytes, module, variable.name.c_str());
    error =
        error != 0 ? error : driver.copy_to_device(at, variable.bytes.data(), std::min(bytes, variable.bytes.size()));
    if (error != cuda::kSuccess) {
      return error;
    }
  }
  return cuda::kSuccess;
}

cuda::Result make_memory(const cuda::Driver& driver, CudaModule& loaded, const RecordedMemory& recorded) {
  CudaRange range{.at = 0, .bytes = static_cast<std::size_t>(recorded.bytes)};
  cuda::Result error = driver.allocate(&range.at, range.bytes);
  if (error != cuda::kSuccess) {
    return error;
  }
  loaded.memory.push_back(range);
  error = recorded.contents.empty()
              ? driver.fill(range.at, recorded.is_scratch ? kScratchByte : 0, range.bytes, nullptr)
              : driver.copy_to_device(range.at, recorded.contents.data(), range.bytes);
  return error != 0 ? error : driver.synchronize_context();
}

}  // namespace

std::optional<Failure> load_recorded(const cuda::Driver& driver, CudaModule& loaded, int slot) {
  const auto call = decode_recorded_call(loaded.recording);
  if (!call || driver.fill_16 == nullptr || driver.fill_32 == nullptr || driver.queue_from_host == nullptr ||
      driver.free_host == nullptr) {
    return Failure{Outcome::wrong_abi, call ? "the driver is too old for recordings" : "it is no recording", slot};
  }
  if (const std::string here = device_model(driver); call->device != here) {
    return Failure{Outcome::refused,
                   fmt::format("it was recorded on {}, and this is {}: record it again", call->device, here), slot};
  }
  loaded.operations.clear();
  std::vector<cuda::Module> modules;
  std::vector<LoadedImage> images;
  for (const RecordedModule& recorded : call->modules) {
    cuda::Module module = nullptr;
    if (!is_whole_cubin(recorded.image)) {
      return Failure{Outcome::wrong_abi, "a module of the recording is no whole cubin", slot};
    }
    if (auto failure =
            cuda_failure(driver, driver.load_module(&module, recorded.image.c_str()), "a module does not load", slot)) {
      return failure;
    }
    modules.push_back(module);
    images.push_back({.module = module, .image = recorded.image});
    (loaded.module == nullptr ? loaded.module : loaded.more_modules.emplace_back()) = module;
    if (auto failure =
            cuda_failure(driver, set_variables(driver, module, recorded), "the variables of a module", slot)) {
      return failure;
    }
  }
  if (loaded.recorded_images.empty()) {  // who profiles it keeps views of them while it is loaded anew
    std::ranges::transform(call->modules, std::back_inserter(loaded.recorded_images), &RecordedModule::image);
  }
  for (const RecordedMemory& recorded : call->memory) {
    if (auto failure = cuda_failure(driver, make_memory(driver, loaded, recorded),
                                    fmt::format("{} bytes of the call's own memory", recorded.bytes), slot)) {
      return failure;
    }
  }
  for (const RecordedOperation& operation : call->operations) {
    if (auto failure = load_operation(driver, loaded, modules, operation, slot)) {
      return failure;
    }
  }
  loaded.restorable = loaded.variables.keep(driver, images, loaded.memory);
  return std::nullopt;
}

namespace {

cuda::Result replay_kernel(const cuda::Driver& driver, const CudaOperation& operation, std::string& parameters,
                           cuda::Stream stream) {
  constexpr std::uintptr_t kBuffer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER
  constexpr std::uintptr_t kSize = 2;    // CU_LAUNCH_PARAM_BUFFER_SIZE
  const RecordedKernel& kernel = *operation.recorded->kernel;
  std::size_t size = parameters.size();
  std::array<void*, 5> extra = {reinterpret_cast<void*>(kBuffer), parameters.data(), reinterpret_cast<void*>(kSize),
                                &size, nullptr};
  std::array<cuda::LaunchAttribute, 3> attributes{};
  unsigned count = 0;
  const auto sizes = [](const std::array<std::int64_t, 3>& from) {
    return std::array<unsigned, 3>{static_cast<unsigned>(from[0]), static_cast<unsigned>(from[1]),
                                   static_cast<unsigned>(from[2])};
  };
  if (kernel.cooperative) {
    attributes.at(count).id = cuda::kCooperative;
    attributes.at(count++).cooperative = 1;
  }
  if (kernel.overlaps) {
    attributes.at(count).id = cuda::kProgrammaticSerialization;
    attributes.at(count++).programmatic_serialization = 1;
  }
  if (kernel.cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
    attributes.at(count).id = cuda::kClusterDimension;
    attributes.at(count++).cluster = sizes(kernel.cluster);
  }
  const cuda::LaunchConfig config{.grid = sizes(kernel.grid),
                                  .block = sizes(kernel.block),
                                  .shared_bytes = static_cast<unsigned>(kernel.shared_bytes),
                                  .stream = stream,
                                  .attributes = attributes.data(),
                                  .attribute_count = count};
  return driver.launch(&config, operation.function, nullptr, size == 0 ? nullptr : extra.data());
}

cuda::Result replay_fill(const cuda::Driver& driver, const RecordedOperation& fill, cuda::Pointer to,
                         cuda::Stream stream) {
  const auto count = static_cast<std::size_t>(fill.bytes / fill.width);
  switch (fill.width) {
    case 1:
      return driver.fill(to, static_cast<unsigned char>(fill.value), count, stream);
    case 2:
      return driver.fill_16(to, static_cast<unsigned short>(fill.value), count, stream);
    default:
      return driver.fill_32(to, fill.value, count, stream);
  }
}

}  // namespace

cuda::Result replay(const cuda::Driver& driver, const CudaOperation& operation, const std::vector<std::uint64_t>& words,
                    cuda::Stream stream) {
  std::string parameters = operation.parameters;
  for (const RecordedPlace& place : operation.places) {
    const std::uint64_t address =
        words.at(static_cast<std::size_t>(place.argument)) + static_cast<std::uint64_t>(place.offset);
    if (const cuda::Result error = put_address(driver, parameters, place, address); error != cuda::kSuccess) {
      return error;
    }
  }
  if (operation.recorded->kernel) {
    return replay_kernel(driver, operation, parameters, stream);
  }
  const cuda::Pointer to = word_at(parameters, 0);
  const auto bytes = static_cast<std::size_t>(operation.recorded->bytes);
  if (operation.host != nullptr) {
    return driver.queue_from_host(to, operation.host, bytes, stream);
  }
  return operation.recorded->from ? driver.copy_on_device(to, word_at(parameters, sizeof(cuda::Pointer)), bytes, stream)
                                  : replay_fill(driver, *operation.recorded, to, stream);
}

}  // namespace apo
