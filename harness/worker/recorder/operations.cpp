// harness/worker/recorder/operations.cpp - the driver's functions: which launch, fill or copy, and which no replay
// repeats.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "harness/core/text.h"
#include "harness/worker/recorder/state.h"

namespace apo::recorder {
namespace {

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
struct AllocationParameters {
  cuda::Pointer* at;
  std::size_t bytes;
  cuda::Stream stream;  // likewise
};
struct PoolParameters {
  cuda::Pointer* at;
  std::size_t bytes;
  const void* pool;
  cuda::Stream stream;
};
struct MapParameters {
  void* map;
  int dtype;
  std::uint32_t rank;
  void* address;
};

struct GraphParameters {
  cuda::ExecutableGraph graph;
  cuda::Stream stream;
};
struct RecordParameters {
  const void* event;
  cuda::Stream stream;
};
struct WaitParameters {
  cuda::Stream stream;
  const void* event;
};

RecordedPlace known_place(State& self, cuda::Pointer address, const char* otherwise) {
  const auto place = place_of(self, address);
  if (!place) {
    refuse(otherwise);
  }
  return *place;
}

void note_fill(State& self, const FillWork& fill) {
  self.call.operations.push_back({.kernel = {},
                                  .bytes = static_cast<std::int64_t>(fill.bytes),
                                  .to = known_place(self, fill.to, "it fills what is no memory"),
                                  .from = {},
                                  .value = fill.value,
                                  .width = fill.width});
}

// What is copied from the host is what its memory holds now.
void note_copy(State& self, const CopyWork& copy) {
  RecordedOperation operation{
      .kernel = {},
      .bytes = static_cast<std::int64_t>(copy.bytes),
      .to =
          known_place(self, copy.to, "it copies to the host: what that makes of a call's numbers cannot be replayed")};
  if (copy.is_on_device || !is_on_host(self, copy.from)) {
    operation.from = known_place(self, copy.from, "it copies from what is no memory");
  } else if ((self.from_host += operation.bytes) > kMostFromHost) {
    refuse(fmt::format("the call copies more than {} from the host: copy that to the GPU once, before the call",
                       format_bytes(static_cast<double>(kMostFromHost))));
  } else {
    operation.from_host.assign(reinterpret_cast<const char*>(copy.from), copy.bytes);
    refuse_addresses(self, operation.from_host, copy.to, "what it copies from the host");
  }
  self.call.operations.push_back(std::move(operation));
}

template <class Value>
void queue_fill(State& self, const void* parameters, bool is_queued) {
  const auto& fill = *static_cast<const FillParameters<Value>*>(parameters);
  if (fill.count > 0 && note_queue(self, is_queued ? fill.stream : nullptr)) {
    note_fill(self, {.to = fill.to, .value = fill.value, .width = sizeof(Value), .bytes = fill.count * sizeof(Value)});
  }
}

void queue_copy(State& self, const void* parameters, bool is_queued, bool is_on_device) {
  const auto& copy = *static_cast<const CopyParameters*>(parameters);
  if (copy.bytes > 0 && note_queue(self, is_queued ? copy.stream : nullptr)) {
    note_copy(self, {.to = copy.to, .from = copy.from, .bytes = copy.bytes, .is_on_device = is_on_device});
  }
}

void queue_kernel(State& self, const cuda::LaunchConfig& config, cuda::Function launched, void** parameters,
                  void** extra, const std::string& name) {
  if (note_queue(self, config.stream)) {
    note_kernel(self, kernel_work(self, config, launched, parameters, extra, name));
  }
}

// The rest works on memory, or gives the GPU work, in a way that is not written down.
struct Refused {
  std::string_view begin;  // of the function's name
  const char* why;
};
constexpr const char* kNoReplay = "no replay repeats such a call";
constexpr const char* kHandle = "a replay has other handles of textures and surfaces";
constexpr const char* kMapped = "what memory held that it maps is not known: map it before the call";
constexpr std::array kRefused = {Refused{"cuMemcpy", kNoReplay},
                                 Refused{"cuMemset", kNoReplay},
                                 Refused{"cuLaunch", kNoReplay},
                                 Refused{"cuStreamWriteValue", kNoReplay},
                                 Refused{"cuStreamWaitValue", kNoReplay},
                                 Refused{"cuStreamBatchMemOp", kNoReplay},
                                 Refused{"cuMemPrefetch", kNoReplay},
                                 Refused{"cuStreamAddCallback", kNoReplay},
                                 Refused{"cuTexObjectCreate", kHandle},
                                 Refused{"cuSurfObjectCreate", kHandle},
                                 Refused{"cuMemMap", kMapped}};

const char* why_refused(std::string_view function) {
  const auto* const found =
      std::ranges::find_if(kRefused, [&](const Refused& one) { return function.starts_with(one.begin); });
  return found == kRefused.end() ? nullptr : found->why;
}

}  // namespace

bool note_queue(State& self, cuda::Stream stream) {
  if (is_captured(*self.driver, stream)) {
    return false;
  }
  cuda::Device device = 0;
  need(self, self.driver->current_device(&device), "which GPU it works on");
  if (self.call.operations.empty()) {
    self.call.device = device_model(*self.driver);
    self.device = device;
  }
  if (device != self.device) {
    refuse("it works on another GPU than the operations before it");
  }
  if (self.is_ordered) {
    self.order.works(ordered(self, stream));
  }
  return true;
}

void note_work(State& self, const Work& work) {
  if (const auto* const kernel = std::get_if<KernelWork>(&work)) {
    note_kernel(self, *kernel);
  } else if (const auto* const fill = std::get_if<FillWork>(&work)) {
    note_fill(self, *fill);
  } else {
    note_copy(self, std::get<CopyWork>(work));
  }
}

void note_operation(State& self, const cupti::CallbackData& call, std::string_view function) {
  const void* const parameters = call.parameters;
  const std::string symbol = call.symbol == nullptr ? "" : call.symbol;
  const char* const otherwise = why_refused(function);
  if (parameters == nullptr && otherwise != nullptr) {
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
    queue_kernel(self, config, launch.function, launch.parameters, is_cooperative ? nullptr : launch.extra, symbol);
  } else if (function == "cuLaunchKernelEx") {
    const auto& launch = *static_cast<const LaunchExParameters*>(parameters);
    queue_kernel(self, *launch.config, launch.function, launch.parameters, launch.extra, symbol);
  } else if (function == "cuMemsetD8Async" || function == "cuMemsetD8_v2") {
    queue_fill<std::uint8_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemsetD16Async" || function == "cuMemsetD16_v2") {
    queue_fill<std::uint16_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemsetD32Async" || function == "cuMemsetD32_v2") {
    queue_fill<std::uint32_t>(self, parameters, function.ends_with("Async"));
  } else if (function == "cuMemcpyDtoDAsync_v2" || function == "cuMemcpyHtoDAsync_v2" || function == "cuMemcpyAsync") {
    queue_copy(self, parameters, true, function.starts_with("cuMemcpyDtoD"));
  } else if (function == "cuMemcpyDtoD_v2" || function == "cuMemcpyHtoD_v2" || function == "cuMemcpy") {
    queue_copy(self, parameters, false, function.starts_with("cuMemcpyDtoD"));
  } else if (function == "cuGraphLaunch") {
    const auto& launch = *static_cast<const GraphParameters*>(parameters);
    note_graph_launch(self, launch.graph, launch.stream);
  } else if (otherwise != nullptr) {
    refuse(otherwise);
  }
}

bool succeeded(const cupti::CallbackData& call) {
  return call.site != cupti::kEnter && call.result != nullptr &&
         *static_cast<const cuda::Result*>(call.result) == cuda::kSuccess;
}

void note_made(State& self, const cupti::CallbackData& call, std::string_view function) {
  if (!succeeded(call) || call.parameters == nullptr) {
    return;
  }
  if (function.starts_with("cuTensorMapEncode")) {
    const auto& encoded = *static_cast<const MapParameters*>(call.parameters);
    self.maps[std::string(static_cast<const char*>(encoded.map), kMapBytes)] =
        reinterpret_cast<std::uint64_t>(encoded.address);
  }
  if (!self.recording || !self.refusal.empty()) {
    return;
  }
  const bool is_queued = function == "cuMemAllocAsync";
  if (is_queued || function == "cuMemAlloc_v2") {
    const auto& made = *static_cast<const AllocationParameters*>(call.parameters);
    note_allocation(self, *made.at, static_cast<std::int64_t>(made.bytes), is_queued ? made.stream : nullptr);
  } else if (function == "cuMemAllocFromPoolAsync") {
    const auto& made = *static_cast<const PoolParameters*>(call.parameters);
    note_allocation(self, *made.at, static_cast<std::int64_t>(made.bytes), made.stream);
  }
}

// The driver orders all but non-blocking streams with the default one, whose work is waited for.
StreamOrder::Handle ordered(State& self, cuda::Stream stream) {
  constexpr std::uintptr_t kPerThreadStream = 2;  // 0 to 2 are the driver's own
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
  const bool is_over = succeeded(call);
  if (parameters == nullptr && !function.starts_with("cuCtxSynchronize")) {
    return;
  }
  if (call.site == cupti::kEnter && function.starts_with("cuEventRecord")) {
    const auto& record = *static_cast<const RecordParameters*>(parameters);
    is_captured(*self.driver, record.stream) ? self.order.forgets(record.event)
                                             : self.order.records(record.event, ordered(self, record.stream));
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

std::string about(const State& self, const cupti::CallbackData& call, const std::string& why) {
  const bool is_kernel = call.symbol != nullptr && std::string_view(call.function).starts_with("cuLaunch");
  return fmt::format("{} (operation {} of the call): {}",
                     is_kernel ? fmt::format("the kernel '{}'", call.symbol) : call.function,
                     self.call.operations.size() + 1, why);
}

}  // namespace apo::recorder
