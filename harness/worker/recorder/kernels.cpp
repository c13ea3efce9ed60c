// harness/worker/recorder/kernels.cpp - a launch: its kernel's module, its attributes, its parameters with the places
// of addresses.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/worker/recorder/state.h"

namespace apo::recorder {
namespace {

constexpr std::size_t kMapAlignment = 64;
constexpr cuda::Pointer kNowhere = cuda::Pointer{1} << 40;  // in place of addresses, which differ from call to call

// The code of a kernel in an image; empty where it has none of that name.
std::string_view code_in(const std::string& image, const std::string& kernel) {
  const std::string section = ".text." + kernel;
  if (image.find(section + '\0') == std::string::npos) {
    return {};
  }
  try {
    const ElfObject cubin(image, ET_EXEC);
    for (const Elf64_Shdr& header : cubin.sections()) {
      if (cubin.name(header) == section) {
        return cubin.contents(header);
      }
    }
  } catch (const EnvironmentError&) {
    return {};  // not a cubin
  }
  return {};
}

// Several modules may have a kernel of that name: one that was loaded by itself is known by its handle.
const std::string& image_with(State& self, cuda::Module module, const std::string& kernel) {
  const std::lock_guard lock(self.images_mutex);
  for (const std::size_t image : self.images_of[module]) {
    if (!code_in(self.images[image], kernel).empty()) {
      return self.images[image];
    }
  }
  const std::string* found = nullptr;
  std::string_view code;
  for (const std::string& image : self.images) {
    const std::string_view here = code_in(image, kernel);
    if (here.empty()) {
      continue;
    }
    if (found != nullptr && here != code) {
      refuse("two modules have different code of that name");
    }
    found = found == nullptr ? &image : found;
    code = here;
  }
  if (found == nullptr) {
    refuse("no module that the driver told of has its code");
  }
  return *found;
}

// Variables as the call finds them. Those that the driver does not know by name cannot have been written by name.
int module_of(State& self, cuda::Function function, const std::string& kernel) {
  cuda::Module module = nullptr;
  need(self, self.driver->function_module(&module, function), "its module");
  if (const auto known = self.modules.find(module); known != self.modules.end()) {
    return known->second;
  }
  RecordedModule recorded{.image = image_with(self, module, kernel), .variables = {}};
  for (const CudaVariable& variable : variables_in(recorded.image)) {
    cuda::Pointer at = 0;
    std::size_t bytes = 0;
    if (self.driver->get_global(&at, &bytes, module, variable.name.c_str()) == cuda::kSuccess) {
      recorded.variables.push_back(
          {.name = variable.name, .bytes = read_memory(self, at, static_cast<std::int64_t>(bytes))});
      refuse_addresses(self, recorded.variables.back().bytes, at, fmt::format("its variable '{}'", variable.name));
    }
  }
  self.call.modules.push_back(std::move(recorded));
  const int number = static_cast<int>(self.call.modules.size()) - 1;
  self.modules[module] = number;
  return number;
}

std::string parameters_of(const State& self, cuda::Function function, void** parameters, void** extra) {
  std::string bytes;
  if (parameters != nullptr) {
    std::size_t offset = 0;
    std::size_t size = 0;
    for (std::size_t i = 0; self.driver->parameter_info(function, i, &offset, &size) == cuda::kSuccess; ++i) {
      bytes.resize(std::max(bytes.size(), offset + size));
      std::memcpy(&bytes[offset], parameters[i], size);
    }
  } else if (extra != nullptr) {
    constexpr std::uintptr_t kBuffer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER, followed by it, and so on
    constexpr std::uintptr_t kSize = 2;
    const void* buffer = nullptr;
    std::size_t size = 0;
    for (; extra[0] != nullptr; extra += 2) {
      const auto what = reinterpret_cast<std::uintptr_t>(extra[0]);
      buffer = what == kBuffer ? extra[1] : buffer;
      size = what == kSize ? *static_cast<const std::size_t*>(extra[1]) : size;
    }
    bytes.assign(static_cast<const char*>(buffer), buffer == nullptr ? 0 : size);
  }
  return bytes;
}

std::vector<RecordedPlace> places_in(State& self, const std::string& parameters) {
  std::vector<RecordedPlace> places;
  for (std::size_t at = 0; at + kWord <= parameters.size();) {
    const auto map = at % kMapAlignment == 0 && at + kMapBytes <= parameters.size()
                         ? self.maps.find(parameters.substr(at, kMapBytes))
                         : self.maps.end();
    const bool is_map = map != self.maps.end();
    std::uint64_t word = 0;
    std::memcpy(&word, &parameters[at], kWord);
    if (auto place = place_of(self, is_map ? map->second : word)) {
      place->parameter = static_cast<int>(at);
      place->in_map = is_map;
      places.push_back(*place);
    } else if (is_map) {
      refuse("it reads a tensor map of memory that is no more");
    }
    at += is_map ? kMapBytes : kWord;
  }
  return places;
}

void take_attributes(RecordedKernel& kernel, const cuda::LaunchConfig& config) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const cuda::LaunchAttribute& attribute = config.attributes[i];
    switch (attribute.id) {
      case cuda::kCooperative:
        kernel.cooperative = attribute.cooperative != 0;
        break;
      case cuda::kClusterDimension:
        std::ranges::copy(attribute.cluster, kernel.cluster.begin());
        break;
      case cuda::kProgrammaticSerialization:
        kernel.overlaps = attribute.programmatic_serialization != 0;
        break;
      case cuda::kIgnored:
      case cuda::kSynchronizationPolicy:
      case cuda::kClusterScheduling:
      case cuda::kPriority:
      case cuda::kMemSyncDomainMap:
      case cuda::kMemSyncDomain:
      case cuda::kPreferredCarveout:
        break;  // of how it shares the GPU with others
      default:
        refuse(fmt::format("it has the launch attribute {}, which no replay sets", attribute.id));
    }
  }
}

}  // namespace

cuda::Function function_of(const State& self, cuda::Function function) {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  const cuda::Result known = self.driver->parameter_info(function, 0, &offset, &bytes);
  cuda::Function of_kernel = nullptr;
  const bool is_kernel = known != cuda::kSuccess && known != cuda::kInvalidValue &&
                         self.driver->kernel_function != nullptr &&
                         self.driver->kernel_function(&of_kernel, function) == cuda::kSuccess;
  return is_kernel ? of_kernel : function;
}

KernelWork kernel_work(const State& self, const cuda::LaunchConfig& config, cuda::Function launched, void** parameters,
                       void** extra, const std::string& name) {
  KernelWork work{.function = function_of(self, launched), .kernel = {.name = name}};
  std::ranges::copy(config.grid, work.kernel.grid.begin());
  std::ranges::copy(config.block, work.kernel.block.begin());
  work.kernel.shared_bytes = config.shared_bytes;
  take_attributes(work.kernel, config);
  work.parameters = parameters_of(self, work.function, parameters, extra);
  return work;
}

void note_kernel(State& self, const KernelWork& work) {
  RecordedKernel kernel = work.kernel;
  int value = 0;
  need(self, self.driver->get_function_attribute(&value, cuda::kFunctionDynamicSharedBytes, work.function),
       "its attributes");
  kernel.most_shared_bytes = value;
  need(self, self.driver->get_function_attribute(&kernel.carveout, cuda::kFunctionCarveout, work.function),
       "its attributes");
  need(self, self.driver->get_function_attribute(&value, cuda::kFunctionNonPortableCluster, work.function),
       "its attributes");
  kernel.non_portable_cluster = value != 0;
  kernel.module = module_of(self, work.function, kernel.name);
  std::string bytes = work.parameters;
  kernel.places = places_in(self, bytes);
  for (const RecordedPlace& place : kernel.places) {
    need(self, put_address(*self.driver, bytes, place, kNowhere), "a tensor map");
  }
  kernel.parameters = base64(bytes);
  self.call.operations.push_back({.kernel = std::move(kernel)});
}

void note_module(State& self, const cupti::ModuleData* module) {
  if (module == nullptr || module->cubin == nullptr || module->bytes == 0) {
    return;
  }
  std::string image(module->cubin, module->bytes);
  const std::lock_guard lock(self.images_mutex);
  const auto known = std::ranges::find(self.images, image);
  self.loading[std::this_thread::get_id()].push_back(static_cast<std::size_t>(known - self.images.begin()));
  if (known == self.images.end()) {
    self.images.push_back(std::move(image));
  }
}

// A driver that loads late tells of an image when its first function is asked for.
void note_loading(State& self, const cupti::CallbackData& call, std::string_view function) {
  struct FunctionParameters {
    cuda::Function* function;
    cuda::Module module;
  };
  const bool is_load = function.starts_with("cuModuleLoad");
  const bool is_unload = function == "cuModuleUnload";
  if (!is_load && !is_unload && function != "cuModuleGetFunction") {
    return;
  }
  const std::lock_guard lock(self.images_mutex);
  std::vector<std::size_t>& loading = self.loading[std::this_thread::get_id()];
  if (succeeded(call) && call.parameters != nullptr) {
    if (is_unload) {
      self.images_of.erase(*static_cast<const cuda::Module*>(call.parameters));
    } else if (is_load) {
      self.images_of[**static_cast<cuda::Module* const*>(call.parameters)] = loading;
    } else {
      std::vector<std::size_t>& images =
          self.images_of[static_cast<const FunctionParameters*>(call.parameters)->module];
      images.insert(images.end(), loading.begin(), loading.end());
    }
  }
  loading.clear();
}

}  // namespace apo::recorder
