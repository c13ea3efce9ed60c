// harness/worker/recorder/state.h - the recording under way, which all parts of the recorder work on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/worker/cuda/addresses.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/recorder/stream_order.h"
#include "harness/worker/recorder/wanted_call.h"

namespace apo::recorder {

inline constexpr std::size_t kMapBytes = 128;  // of a CUtensorMap
inline constexpr std::size_t kWord = sizeof(std::uint64_t);

// A call that cannot be replayed.
struct Unrecordable {
  std::string why;
};
[[noreturn]] void refuse(const std::string& why);

// What the GPU is given, whatever its addresses point to.
struct KernelWork {
  cuda::Function function = nullptr;
  RecordedKernel kernel;  // without what follows from the function and the parameters
  std::string parameters;
};
struct FillWork {
  cuda::Pointer to = 0;
  std::uint32_t value = 0;
  int width = 1;
  std::size_t bytes = 0;
};
struct CopyWork {
  cuda::Pointer to = 0;
  cuda::Pointer from = 0;  // or memory of the host
  std::size_t bytes = 0;
  bool is_on_device = false;  // surely: of what the driver has for itself, no address is known
};
using Work = std::variant<KernelWork, FillWork, CopyWork>;

// A CUDA graph as it was made executable, its nodes one after the other.
struct GraphWork {
  std::vector<Work> work;
  std::string why_not;  // no replay repeats it; empty: one does
};

// CUPTI calls from whatever thread calls the driver, up to the end of the process: therefore it is never destroyed.
struct State {
  std::mutex images_mutex;          // modules are also loaded by the driver calls of a callback
  std::vector<std::string> images;  // of modules, each once
  std::map<cuda::Module, std::vector<std::size_t>> images_of;
  std::map<std::thread::id, std::vector<std::size_t>> loading;  // by the driver call that the thread is in
  std::mutex mutex;                                             // of all that follows
  std::unique_ptr<const cupti::Library> cupti;
  const cuda::Driver* driver = nullptr;
  std::map<cuda::ExecutableGraph, GraphWork> executables;
  std::set<cuda::Stream> captures;            // that are under way
  std::map<std::string, std::uint64_t> maps;  // bytes of a CUtensorMap, and the address that it was made of
  bool recording = false;
  std::vector<CudaRange> tensors;
  RecordedCall call;
  std::vector<cuda::Pointer> memory;    // addresses of call.memory
  std::set<cuda::Pointer> fresh;        // memory that was allocated since the call began, or free then
  std::map<cuda::Module, int> modules;  // numbers in call.modules
  bool is_ordered = false;              // whether the call has a caller, on whose stream its inputs and outputs are
  cuda::Stream caller = nullptr;
  StreamOrder order;
  cuda::Device device = 0;         // that the first operation worked on
  std::vector<std::string> marks;  // that name memory
  std::int64_t own_bytes = 0;
  std::int64_t from_host = 0;      // bytes
  bool inverts_addresses = false;  // in memory of the call's own
  std::string inverted;            // where the first one was
  std::int64_t searched = 0;       // bytes in which addresses were looked for; a question to the driver counts as many
  std::string refusal;             // of the first operation that cannot be replayed

  // Of a program: what is waited for.
  WantedCall wanted;
  std::function<void(const ProgramCall&)> done;  // empty: nothing, or no longer
  std::int64_t launches = 0;                     // of the wanted kernel
  std::int64_t graphs = 0;                       // that were launched
  std::uint32_t closing = 0;                     // the wanted launch, until it has returned
  std::unique_ptr<const cuda::Driver> loaded;

  // The first reason stays.
  void refused(const std::string& why) { refusal = refusal.empty() ? why : refusal; }
};

State& state();

// Throws Unrecordable.
void need(const State& self, cuda::Result result, const std::string& what);
bool can_record(const cuda::Driver* driver);
// Loads the driver where nobody has. False, and one sentence, where that cannot record.
bool load_driver(State& self, std::string& missing);
void begin_call(State& self, const std::vector<CudaRange>& tensors);

bool succeeded(const cupti::CallbackData& call);  // it has returned, and without an error

// operations.cpp: writes down what a call of the driver gives the GPU. Throws Unrecordable.
void note_operation(State& self, const cupti::CallbackData& call, std::string_view function);
// After a call of the driver: memory that it allocated, tensor maps that it made.
void note_made(State& self, const cupti::CallbackData& call, std::string_view function);
// Notes which streams wait for which, before and after a call of the driver.
void note_wait(State& self, const cupti::CallbackData& call, std::string_view function);
// The stream as StreamOrder knows it.
StreamOrder::Handle ordered(State& self, cuda::Stream stream);
// "the kernel 'name' (operation 3): why".
std::string about(const State& self, const cupti::CallbackData& call, const std::string& why);

// All throw Unrecordable.
void note_work(State& self, const Work& work);
// Notes on which GPU and stream it works. False where that is captured: work is what launches the graph.
bool note_queue(State& self, cuda::Stream stream);

// graphs.cpp: before and after a call of the driver that captures a stream, or makes, changes or destroys an executable
// graph.
void note_graph(State& self, const cupti::CallbackData& call, std::string_view function);
// Throws Unrecordable.
void note_graph_launch(State& self, cuda::ExecutableGraph graph, cuda::Stream stream);

// kernels.cpp. The first three throw Unrecordable.
KernelWork kernel_work(const State& self, const cuda::LaunchConfig& config, cuda::Function launched, void** parameters,
                       void** extra, const std::string& name);
// What runtime libraries launch is a CUkernel of the library interface in place of a CUfunction.
cuda::Function function_of(const State& self, cuda::Function function);
void note_kernel(State& self, const KernelWork& work);
void note_module(State& self, const cupti::ModuleData* module);
// Before and after a call of the driver that succeeds: which images are of which module.
void note_loading(State& self, const cupti::CallbackData& call, std::string_view function);

// memory.cpp. All but is_allocated(), is_on_host() and are_seen() throw Unrecordable.
// Scratch included, once what the call returns is no longer among it.
void check_memory(const State& self);
// Whether the allocation is still there.
bool is_allocated(const State& self, cuda::Pointer at, std::int64_t bytes);
// Whether a copy's source is memory of the host alone.
bool is_on_host(const State& self, cuda::Pointer at);
std::string read_memory(const State& self, cuda::Pointer at, std::int64_t bytes);
// A replay has other addresses, and finds none of those that lie in the memory at `start`.
void refuse_addresses(State& self, const std::string& contents, cuda::Pointer start, const std::string& where);
// Whether operations of the call, by their numbers, work on memory or with variables that anything else does.
bool are_seen(RecordedCall& call, const std::vector<std::size_t>& operations);
// nullopt for a word that is no address of memory.
std::optional<RecordedPlace> place_of(State& self, std::uint64_t word);
void note_allocation(State& self, cuda::Pointer at, std::int64_t bytes, cuda::Stream stream);

// program_calls.cpp: begins and ends the call that is waited for.
void await_program_call(State& self, const cupti::CallbackData& call, std::string_view function);
void end_program_call(State& self);

inline constexpr const char* kOldDriver = "recording needs a driver of CUDA 12.4";

// Calls of the driver within a callback are ours.
inline thread_local bool is_ours = false;

}  // namespace apo::recorder
