// harness/worker/cupti/call_recorder.cpp - reads launches, fills and copies where the driver is entered.
#include "harness/worker/cupti/call_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::int64_t kMostOwnBytes = std::int64_t{4} << 30;  // of memory of the call's own
constexpr std::size_t kMapBytes = 128;                         // of a CUtensorMap
constexpr std::size_t kMapAlignment = 64;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr const char* kOldDriver = "recording needs a driver of CUDA 12.4";
constexpr std::uintptr_t kPerThreadStream = 2;              // 0 to 2 are the driver's own
constexpr cuda::Pointer kNowhere = cuda::Pointer{1} << 40;  // in place of addresses, which differ from call to call

// The begin of the parameters of the driver's functions, as CUPTI hands them over.
struct LaunchParameters {
  cuda::Function function;
  std::array<unsigned, 3> grid;
  std::array<unsigned, 3> block;
  unsigned shared_bytes;
  cuda::Stream stream;
  void** parameters;
  void** extra;  // not of a cooperative launch
};
struct LaunchExParameters {
  const cuda::LaunchConfig* config;
  cuda::Function function;
  void** parameters;
  void** extra;
};
template <class Value>
struct FillParameters {
  cuda::Pointer to;
  Value value;
  std::size_t count;
  cuda::Stream stream;  // not of a synchronous one
};
struct CopyParameters {
  cuda::Pointer to;
  cuda::Pointer from;
  std::size_t bytes;
  cuda::Stream stream;  // likewise
};
struct RecordParameters {
  const void* event;
  cuda::Stream stream;
};
struct WaitParameters {
  cuda::Stream stream;
  const void* event;
};
struct MapParameters {
  void* map;
  int dtype;
  std::uint32_t rank;
  void* address;
};

// A call that cannot be replayed.
struct Unrecordable {
  std::string why;
};

[[noreturn]] void refuse(const std::string& why) {
  throw Unrecordable{why};
}

// The recording under way, and what is known from before it. CUPTI calls from whatever thread calls the driver, up to
// the end of the process: therefore this is never destroyed.
struct State {
  std::mutex images_mutex;          // modules are also loaded by the driver calls of a callback
  std::vector<std::string> images;  // of modules, each once
  std::mutex mutex;                 // of all that follows
  std::unique_ptr<const cupti::Library> cupti;
  const cuda::Driver* driver = nullptr;
  std::map<std::string, std::uint64_t> maps;  // bytes of a CUtensorMap, and the address that it was made of
  bool recording = false;
  std::vector<CudaRange> tensors;
  RecordedCall call;
  std::vector<cuda::Pointer> memory;    // addresses of call.memory
  std::map<cuda::Module, int> modules;  // numbers in call.modules
  std::set<cuda::Stream> streams;
  bool is_ordered = false;  // whether the call has a caller, on whose stream its inputs and outputs are
  cuda::Stream caller = nullptr;
  StreamOrder order;
  cuda::Device device = 0;         // that the first operation worked on
  std::vector<std::string> marks;  // that name memory
  std::int64_t own_bytes = 0;
  std::string refusal;  // of the first operation that cannot be replayed

  // Of a program: what is waited for.
  WantedCall wanted;
  std::function<void(const ProgramCall&)> done;  // empty: nothing, or no longer
  std::int64_t launches = 0;                     // of the wanted kernel
  std::uint32_t closing = 0;                     // the wanted launch, until it has returned
  std::unique_ptr<const cuda::Driver> loaded;
};

State& state() {
  static auto* const kState = new State;
  return *kState;
}

bool can_record(const cuda::Driver* driver) {
  return driver != nullptr && driver->parameter_info != nullptr && driver->function_module != nullptr &&
         driver->pointer_attribute != nullptr;
}

// Calls of the driver within a callback are ours.
thread_local bool is_ours = false;
thread_local int range_depth = 0;  // of this thread in the wanted range; 0: not in it

void need(State& self, cuda::Result result, const std::string& what) {
  if (result != cuda::kSuccess) {
    refuse(what + ": " + cuda::describe(*self.driver, result));
  }
}

std::string read_memory(State& self, cuda::Pointer at, std::int64_t bytes) {
  std::string contents(static_cast<std::size_t>(bytes), '\0');
  need(self, self.driver->synchronize_context(), "waiting for the GPU");
  need(self, self.driver->copy_to_host(contents.data(), at, contents.size()), "reading what the call works on");
  return contents;
}

bool is_zero(const std::string& bytes) {
  return bytes.find_first_not_of('\0') == std::string::npos;
}

template <class Value>
bool has_attribute(const State& self, Value& value, int attribute, std::uint64_t address) {
  return self.driver->pointer_attribute(&value, attribute, address) == cuda::kSuccess;
}

// A replay has other addresses, and finds none of those that lie in the memory at `start`.
void refuse_addresses(const State& self, const std::string& contents, cuda::Pointer start, const std::string& where) {
  constexpr std::uint64_t kReach = std::uint64_t{1} << 40;  // a driver puts all memory of a GPU into one region
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
  std::map<std::uint64_t, bool> pages;  // whether a word in it is an address
  std::uint64_t word = 0;
  unsigned type = 0;
  for (std::size_t at = 0; at + kWord <= contents.size(); at += kWord) {
    std::memcpy(&word, &contents[at], kWord);
    if (word < kPage || word - start + kReach >= 2 * kReach) {
      continue;
    }
    const auto [page, is_new] = pages.try_emplace(word / kPage, false);
    if (is_new) {
      page->second = has_attribute(self, type, cuda::kPointerMemoryType, word);
    }
    if (page->second && has_attribute(self, type, cuda::kPointerMemoryType, word)) {
      refuse(fmt::format("an address lies at byte {} of {}: a replay has other addresses", at, where));
    }
  }
}

// nullopt for a word that is no address of memory.
std::optional<RecordedPlace> place_of(State& self, std::uint64_t word) {
  for (std::size_t i = 0; i < self.tensors.size(); ++i) {
    const CudaRange& tensor = self.tensors[i];
    if (tensor.bytes > 0 && word >= tensor.at && word <= tensor.at + tensor.bytes) {
      return RecordedPlace{.argument = static_cast<int>(i), .offset = static_cast<std::int64_t>(word - tensor.at)};
    }
  }
  unsigned type = 0;
  unsigned managed = 0;
  cuda::Pointer start = 0;
  std::size_t bytes = 0;
  if (!has_attribute(self, type, cuda::kPointerMemoryType, word)) {
    return std::nullopt;
  }
  has_attribute(self, managed, cuda::kPointerIsManaged, word);
  if (type != cuda::kMemoryOfDevice || managed != 0) {
    refuse("it works on memory of the host, or on memory that both share");
  }
  if (!has_attribute(self, start, cuda::kPointerRangeStart, word) ||
      !has_attribute(self, bytes, cuda::kPointerRangeSize, word)) {
    refuse("the driver does not say how long the memory is that it works on");
  }
  const auto known = std::ranges::find(self.memory, start);
  const auto index = static_cast<int>(known - self.memory.begin());
  if (known == self.memory.end()) {
    const bool has_tensors = std::ranges::any_of(
        self.tensors, [&](const CudaRange& tensor) { return tensor.at >= start && tensor.at < start + bytes; });
    if (has_tensors) {
      refuse("it works on memory between the tensors of the call");
    }
    self.own_bytes += static_cast<std::int64_t>(bytes);
    if (self.own_bytes > kMostOwnBytes) {
      refuse(fmt::format("it works on more than {} of memory of its own",
                         format_bytes(static_cast<double>(kMostOwnBytes))));
    }
    std::string contents = read_memory(self, start, static_cast<std::int64_t>(bytes));
    refuse_addresses(self, contents, start, "the memory that it works on");
    self.memory.push_back(start);
    self.call.memory.push_back(
        {.bytes = static_cast<std::int64_t>(bytes), .contents = is_zero(contents) ? "" : std::move(contents)});
  }
  return RecordedPlace{.memory = index, .offset = static_cast<std::int64_t>(word - start)};
}

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

const std::string& image_with(State& self, const std::string& kernel) {
  const std::lock_guard lock(self.images_mutex);
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
  RecordedModule recorded{.image = image_with(self, kernel), .variables = {}};
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

// What runtime libraries launch is a CUkernel of the library interface in place of a CUfunction.
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

// As StreamOrder knows it: the driver orders all but non-blocking streams with the default one, whose work is waited
// for.
StreamOrder::Handle ordered(State& self, cuda::Stream stream) {
  unsigned flags = 0;
  const bool is_own = stream != self.caller && reinterpret_cast<std::uintptr_t>(stream) > kPerThreadStream &&
                      self.driver->stream_flags != nullptr &&
                      self.driver->stream_flags(stream, &flags) == cuda::kSuccess &&
                      (flags & cuda::kStreamNonBlocking) != 0;
  return is_own ? stream : nullptr;
}

// Those that wait, and those that may have.
void note_wait(State& self, const cupti::CallbackData& call, std::string_view function) {
  const void* const parameters = call.parameters;
  const bool is_over = call.site != cupti::kEnter && call.result != nullptr &&
                       *static_cast<const cuda::Result*>(call.result) == cuda::kSuccess;
  if (parameters == nullptr && !function.starts_with("cuCtxSynchronize")) {
    return;
  }
  if (call.site == cupti::kEnter && function.starts_with("cuEventRecord")) {
    const auto& record = *static_cast<const RecordParameters*>(parameters);
    self.order.records(record.event, ordered(self, record.stream));
  } else if (call.site == cupti::kEnter && function == "cuStreamWaitEvent") {
    const auto& wait = *static_cast<const WaitParameters*>(parameters);
    self.order.waits(ordered(self, wait.stream), wait.event);
  } else if (is_over && (function == "cuEventSynchronize" || function == "cuEventQuery")) {
    self.order.host_waits_for_event(*static_cast<const void* const*>(parameters));
  } else if (is_over && (function == "cuStreamSynchronize" || function == "cuStreamQuery")) {
    self.order.host_waits_for_stream(ordered(self, *static_cast<const cuda::Stream*>(parameters)));
  } else if (is_over && function.starts_with("cuCtxSynchronize")) {
    self.order.host_waits_for_all();
  }
}

void note_queue(State& self, cuda::Stream stream) {
  cuda::Device device = 0;
  need(self, self.driver->current_device(&device), "which GPU it works on");
  if (self.call.operations.empty()) {
    self.call.device = device_model(*self.driver);
    self.device = device;
  }
  if (device != self.device) {
    refuse("it works on another GPU than the operations before it");
  }
  self.streams.insert(stream);
  if (self.is_ordered) {
    self.order.works(ordered(self, stream));
  }
}

void note_launch(State& self, const cuda::LaunchConfig& config, cuda::Function launched, void** parameters,
                 void** extra, const std::string& name) {
  note_queue(self, config.stream);
  const cuda::Function function = function_of(self, launched);
  RecordedKernel kernel{.name = name};
  std::ranges::copy(config.grid, kernel.grid.begin());
  std::ranges::copy(config.block, kernel.block.begin());
  kernel.shared_bytes = config.shared_bytes;
  take_attributes(kernel, config);
  int value = 0;
  need(self, self.driver->get_function_attribute(&value, cuda::kFunctionDynamicSharedBytes, function),
       "its attributes");
  kernel.most_shared_bytes = value;
  need(self, self.driver->get_function_attribute(&kernel.carveout, cuda::kFunctionCarveout, function),
       "its attributes");
  need(self, self.driver->get_function_attribute(&value, cuda::kFunctionNonPortableCluster, function),
       "its attributes");
  kernel.non_portable_cluster = value != 0;
  kernel.module = module_of(self, function, name);
  std::string bytes = parameters_of(self, function, parameters, extra);
  kernel.places = places_in(self, bytes);
  for (const RecordedPlace& place : kernel.places) {
    need(self, put_address(*self.driver, bytes, place, kNowhere), "a tensor map");
  }
  kernel.parameters = base64(bytes);
  self.call.operations.push_back({.kernel = std::move(kernel)});
}

RecordedPlace known_place(State& self, cuda::Pointer address, const char* otherwise) {
  const auto place = place_of(self, address);
  if (!place) {
    refuse(otherwise);
  }
  return *place;
}

template <class Value>
void note_fill(State& self, const void* parameters, bool is_queued) {
  const auto& fill = *static_cast<const FillParameters<Value>*>(parameters);
  if (fill.count == 0) {
    return;
  }
  note_queue(self, is_queued ? fill.stream : nullptr);
  self.call.operations.push_back({.kernel = {},
                                  .bytes = static_cast<std::int64_t>(fill.count * sizeof(Value)),
                                  .to = known_place(self, fill.to, "it fills what is no memory"),
                                  .from = {},
                                  .value = fill.value,
                                  .width = sizeof(Value)});
}

void note_copy(State& self, const void* parameters, bool is_queued) {
  constexpr const char* kHost =
      "it copies from or to the host: what the host makes of a call's numbers cannot be replayed";
  const auto& copy = *static_cast<const CopyParameters*>(parameters);
  if (copy.bytes == 0) {
    return;
  }
  note_queue(self, is_queued ? copy.stream : nullptr);
  self.call.operations.push_back({.kernel = {},
                                  .bytes = static_cast<std::int64_t>(copy.bytes),
                                  .to = known_place(self, copy.to, kHost),
                                  .from = known_place(self, copy.from, kHost)});
}

// The rest works on memory, or gives the GPU work, in a way that is not written down.
bool gives_work(std::string_view function) {
  return std::ranges::any_of(
      std::vector<std::string_view>{"cuMemcpy", "cuMemset", "cuLaunch", "cuGraphLaunch", "cuStreamBeginCapture",
                                    "cuStreamWriteValue", "cuStreamWaitValue", "cuStreamBatchMemOp", "cuMemPrefetch"},
      [&](std::string_view begin) { return function.starts_with(begin); });
}

void note_operation(State& self, const cupti::CallbackData& call, std::string_view function) {
  const void* const parameters = call.parameters;
  const std::string symbol = call.symbol == nullptr ? "" : call.symbol;
  if (parameters == nullptr && gives_work(function)) {
    refuse("the driver does not tell its parameters");
  }
  if (function == "cuLaunchKernel" || function == "cuLaunchCooperativeKernel") {
    const auto& launch = *static_cast<const LaunchParameters*>(parameters);
    const bool is_cooperative = function != "cuLaunchKernel";
    cuda::LaunchAttribute cooperative{.id = cuda::kCooperative};
    cooperative.cooperative = 1;
    const cuda::LaunchConfig config{.grid = launch.grid,
                                    .block = launch.block,
                                    .shared_bytes = launch.shared_bytes,
                                    .stream = launch.stream,
                                    .attributes = &cooperative,
                                    .attribute_count = is_cooperative ? 1U : 0U};
    note_launch(self, config, launch.function, launch.parameters, is_cooperative ? nullptr : launch.extra, symbol);
  } else if (function == "cuLaunchKernelEx") {
    const auto& launch = *static_cast<const LaunchExParameters*>(parameters);
    note_launch(self, *launch.config, launch.function, launch.parameters, launch.extra, symbol);
  } else if (function == "cuMemsetD8Async" || function == "cuMemsetD8_v2") {
    note_fill<std::uint8_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemsetD16Async" || function == "cuMemsetD16_v2") {
    note_fill<std::uint16_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemsetD32Async" || function == "cuMemsetD32_v2") {
    note_fill<std::uint32_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemcpyDtoDAsync_v2" || function == "cuMemcpyAsync") {
    note_copy(self, parameters, true);
  } else if (function == "cuMemcpyDtoD_v2" || function == "cuMemcpy") {
    note_copy(self, parameters, false);
  } else if (gives_work(function)) {
    refuse("no replay repeats such a call");
  }
}

// "the kernel 'name' (operation 3): why".
std::string about(const State& self, const cupti::CallbackData& call, const std::string& why) {
  const bool is_kernel = call.symbol != nullptr && std::string_view(call.function).starts_with("cuLaunch");
  return fmt::format("{} (operation {} of the call): {}",
                     is_kernel ? fmt::format("the kernel '{}'", call.symbol) : call.function,
                     self.call.operations.size() + 1, why);
}

void begin_call(State& self, const std::vector<CudaRange>& tensors) {
  self.tensors = tensors;
  self.call = {};
  self.memory.clear();
  self.modules.clear();
  self.streams.clear();
  self.is_ordered = false;
  self.order.begin();
  self.marks.clear();
  self.own_bytes = 0;
  self.refusal.clear();
  self.recording = true;
}

// Stretches of bytes that differ. Those that lie close together are one.
std::vector<std::array<std::int64_t, 2>> changed(const RecordedMemory& before, const std::string& after) {
  constexpr std::int64_t kClose = 256;
  std::vector<std::array<std::int64_t, 2>> stretches;
  for (std::int64_t i = 0; i < before.bytes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (after[at] == (before.contents.empty() ? '\0' : before.contents[at])) {
      continue;
    }
    if (stretches.empty() || i > stretches.back()[1] + kClose) {
      stretches.push_back({i, i});
    }
    stretches.back()[1] = i + 1;
  }
  return stretches;
}

NamedMemory named_by(const State& self, const std::string& mark) {
  std::array<char, 64> name{};
  std::array<char, 16> role{};
  std::array<char, 16> dtype{};
  long long elements = 0;
  long long address = 0;
  if (std::sscanf(mark.c_str(), "apo:%15[a-z] %63[A-Za-z0-9_] %15[a-z0-9][%lld] %lli", role.data(), name.data(),
                  dtype.data(), &elements, &address) != 5) {
    refuse(fmt::format("the mark '{}' is none as 'apo:input x bf16[4096] 0x7f2a00000000'", mark));
  }
  const auto at = static_cast<cuda::Pointer>(address);
  for (std::size_t i = 0; i < self.memory.size(); ++i) {
    if (at >= self.memory[i] && at < self.memory[i] + static_cast<cuda::Pointer>(self.call.memory[i].bytes)) {
      return {.name = name.data(),
              .dtype = dtype.data(),
              .elements = elements,
              .is_output = std::string_view(role.data()) == "output",
              .memory = static_cast<int>(i),
              .offset = static_cast<std::int64_t>(at - self.memory[i])};
    }
  }
  refuse(fmt::format("the mark '{}' names memory that nothing in the range works on", mark));
}

void end_program_call(State& self) {
  ProgramCall found{.program = self.wanted.program, .refusal = {}};
  self.recording = false;
  try {
    for (std::size_t i = 0; i < self.memory.size() && self.refusal.empty(); ++i) {
      const RecordedMemory& memory = self.call.memory[i];
      const std::string after = read_memory(self, self.memory[i], memory.bytes);
      found.written.push_back(changed(memory, after));
      found.results.emplace_back();
      for (const auto& [begin, end] : found.written.back()) {
        found.results.back() += after.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      }
    }
    for (const std::string& mark : self.marks) {
      found.named.push_back(named_by(self, mark));
    }
    if (self.refusal.empty() && self.call.operations.empty()) {
      self.refusal = "the range gives the GPU no work";
    }
  } catch (const Unrecordable& refused) {
    self.refusal = refused.why;
  }
  found.refusal = self.refusal;
  self.call.streams = static_cast<int>(self.streams.size());
  found.call = found.refusal.empty() ? std::exchange(self.call, {}) : RecordedCall();
  std::exchange(self.done, {})(found);
}

// The driver works: it is called from within.
void begin_program_call(State& self) {
  std::string missing;
  self.loaded = cuda::load_driver(missing);
  self.driver = self.loaded.get();
  begin_call(self, {});
  if (!can_record(self.driver)) {
    self.refusal = missing.empty() ? kOldDriver : missing;
    end_program_call(self);
  }
}

// "_Z7softmaxPKfPfi" has the length before the identifier.
bool is_wanted(const State& self, const char* symbol) {
  const std::string_view name = symbol == nullptr ? "" : symbol;
  const std::string& wanted = self.wanted.kernel;
  return !wanted.empty() &&
         (name == wanted ||
          (name.starts_with("_Z") && name.find(fmt::format("{}{}", wanted.size(), wanted)) != std::string_view::npos));
}

void await_program_call(State& self, const cupti::CallbackData& call, std::string_view function) {
  if (self.done && !self.recording && function.starts_with("cuLaunch") && is_wanted(self, call.symbol) &&
      ++self.launches == self.wanted.nth) {
    begin_program_call(self);
    self.closing = self.done ? call.correlation : 0;
  }
}

void on_driver_call(State& self, const cupti::CallbackData& call) {
  std::string_view function = call.function == nullptr ? "" : call.function;
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    function.remove_suffix(function.ends_with(suffix) ? suffix.size() : 0);
  }
  const std::lock_guard lock(self.mutex);
  if (self.recording && self.is_ordered) {
    note_wait(self, call, function);
  }
  if (call.site != cupti::kEnter) {
    if (function.starts_with("cuTensorMapEncode")) {
      const auto& encoded = *static_cast<const MapParameters*>(call.parameters);
      self.maps[std::string(static_cast<const char*>(encoded.map), kMapBytes)] =
          reinterpret_cast<std::uint64_t>(encoded.address);
    }
    if (self.closing != 0 && call.correlation == self.closing) {
      self.closing = 0;
      end_program_call(self);
    }
    return;
  }
  await_program_call(self, call, function);
  if (!self.recording || !self.refusal.empty()) {
    return;
  }
  try {
    note_operation(self, call, function);
  } catch (const Unrecordable& refused) {
    self.refusal = about(self, call, refused.why);
  }
}

void on_module(State& self, const void* data) {
  const auto* module = static_cast<const cupti::ModuleData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (module == nullptr || module->cubin == nullptr || module->bytes == 0) {
    return;
  }
  std::string image(module->cubin, module->bytes);
  const std::lock_guard lock(self.images_mutex);
  if (std::ranges::find(self.images, image) == self.images.end()) {
    self.images.push_back(std::move(image));
  }
}

void on_callback(void*, int domain, std::uint32_t id, const void* data) {
  State& self = state();
  const bool is_module = domain == cupti::kResourceDomain && id == cupti::kModuleLoaded;
  if (data == nullptr || (is_ours && !is_module)) {
    return;
  }
  const bool was_ours = std::exchange(is_ours, true);
  try {
    if (is_module) {
      on_module(self, data);
    } else if (domain == cupti::kDriverApi) {
      on_driver_call(self, *static_cast<const cupti::CallbackData*>(data));
    }
  } catch (const std::exception& error) {
    if (!is_module) {  // else its code is missing when it is looked for
      const std::lock_guard lock(self.mutex);
      self.refusal =
          std::string("it could not be written down: ") + error.what();  // out of memory, in C code's callback
    }
  }
  is_ours = was_ours;
}

}  // namespace

std::string CallRecorder::start() {
  if (!can_record(driver_)) {
    return kOldDriver;
  }
  state().driver = driver_;
  return subscribe();
}

std::string CallRecorder::start(WantedCall wanted, std::function<void(const ProgramCall&)> done) {
  state().wanted = std::move(wanted);
  state().done = std::move(done);
  return subscribe();
}

void CallRecorder::enter_range(std::string_view name) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  if (range_depth > 0) {
    ++range_depth;
  } else if (self.done && !self.recording && !self.wanted.range.empty() && self.wanted.range == name) {
    is_ours = true;
    begin_program_call(self);
    is_ours = false;
    range_depth = self.done ? 1 : 0;
  }
}

void CallRecorder::leave_range() {
  if (range_depth == 0 || --range_depth > 0) {
    return;
  }
  State& self = state();
  const std::lock_guard lock(self.mutex);
  is_ours = true;
  end_program_call(self);
  is_ours = false;
}

void CallRecorder::name_memory(std::string_view mark) {
  if (range_depth > 0 && mark.starts_with("apo:")) {
    State& self = state();
    const std::lock_guard lock(self.mutex);
    self.marks.emplace_back(mark);
  }
}

void CallRecorder::give_up() {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  if (self.done) {
    const std::string why = !self.refusal.empty() ? self.refusal
                            : self.recording      ? "the program ended within the range"
                            : self.wanted.kernel.empty()
                                ? fmt::format("the program entered no NVTX range '{}'", self.wanted.range)
                                : fmt::format("the program launched '{}' {} times, not {}", self.wanted.kernel,
                                              self.launches, self.wanted.nth);
    std::exchange(self.done, {})({.program = self.wanted.program, .refusal = why});
  }
}

std::string CallRecorder::subscribe() {
  std::string missing;
  State& self = state();
  if (self.cupti == nullptr) {
    self.cupti = cupti::load_library(missing);
  }
  if (self.cupti == nullptr) {
    return missing;
  }
  cupti_ = self.cupti.get();
  cupti::Result result = cupti_->subscribe(&subscriber_, on_callback, nullptr);
  if (result != cupti::kSuccess) {
    subscriber_ = nullptr;
    return "CUPTI does not start: " + cupti::describe(*cupti_, result);
  }
  result = cupti_->enable_callback(1, subscriber_, cupti::kResourceDomain, cupti::kModuleLoaded);
  result = result != cupti::kSuccess ? result : cupti_->enable_domain(1, subscriber_, cupti::kDriverApi);
  if (result != cupti::kSuccess) {
    stop();
    return "CUPTI does not tell of calls: " + cupti::describe(*cupti_, result);
  }
  return "";
}

void CallRecorder::begin(const std::vector<CudaRange>& tensors, cuda::Stream caller) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  begin_call(self, tensors);
  self.is_ordered = true;
  self.caller = caller;
}

Result<RecordedCall> CallRecorder::end(const std::vector<ReturnedMemory>& results) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  self.recording = false;
  if (self.refusal.empty() && self.call.operations.empty()) {
    self.refusal = "it gives the GPU no work";
  }
  if (self.refusal.empty()) {
    self.refusal = self.order.fault();
  }
  if (self.refusal.empty() && !give_results(self.call, {self.memory.begin(), self.memory.end()}, results)) {
    self.refusal = "it returns memory that no operation of the call works on, as an answer from before is";
  }
  if (!self.refusal.empty()) {
    return Failure{.outcome = Outcome::refused, .evidence = std::string(kNotRecorded) + self.refusal};
  }
  self.call.streams = static_cast<int>(self.streams.size());
  return std::exchange(self.call, {});
}

void CallRecorder::stop() {
  if (subscriber_ != nullptr) {
    cupti_->unsubscribe(subscriber_);  // fails only after a sticky error, which the next call reports
    subscriber_ = nullptr;
  }
}

}  // namespace apo
