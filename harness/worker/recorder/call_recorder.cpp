// harness/worker/recorder/call_recorder.cpp - CUPTI's callbacks, in the order in which the driver is entered.
#include "harness/worker/recorder/call_recorder.h"

#include <exception>
#include <utility>

#include "harness/worker/recorder/state.h"

namespace apo {
namespace recorder {

void refuse(const std::string& why) {
  throw Unrecordable{why};
}

State& state() {
  static auto* const kState = new State;
  return *kState;
}

bool can_record(const cuda::Driver* driver) {
  return driver != nullptr && driver->parameter_info != nullptr && driver->function_module != nullptr &&
         driver->pointer_attribute != nullptr;
}

bool load_driver(State& self, std::string& missing) {
  if (self.driver == nullptr) {
    self.loaded = cuda::load_driver(missing);
    self.driver = self.loaded.get();
  }
  missing = missing.empty() ? kOldDriver : missing;
  return can_record(self.driver);
}

void need(const State& self, cuda::Result result, const std::string& what) {
  if (result != cuda::kSuccess) {
    refuse(what + ": " + cuda::describe(*self.driver, result));
  }
}

void begin_call(State& self, const std::vector<CudaRange>& tensors) {
  self.tensors = tensors;
  self.call = {};
  self.memory.clear();
  self.modules.clear();
  self.is_ordered = false;
  self.order.begin();
  self.marks.clear();
  self.fresh.clear();
  self.own_bytes = 0;
  self.from_host = 0;
  self.inverts_addresses = false;
  self.inverted.clear();
  self.searched = 0;
  self.refusal.clear();
  self.recording = true;
}

namespace {

void on_driver_call(State& self, const cupti::CallbackData& call) {
  std::string_view function = call.function == nullptr ? "" : call.function;
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    function.remove_suffix(function.ends_with(suffix) ? suffix.size() : 0);
  }
  const std::lock_guard lock(self.mutex);
  if (self.recording && self.is_ordered) {
    note_wait(self, call, function);
  }
  try {
    note_loading(self, call, function);
    note_graph(self, call, function);
    if (call.site != cupti::kEnter) {
      note_made(self, call, function);
    } else {
      await_program_call(self, call, function);
      if (self.recording && self.refusal.empty()) {
        note_operation(self, call, function);
      }
    }
  } catch (const Unrecordable& refused) {
    self.refused(about(self, call, refused.why));
  } catch (const std::exception& error) {
    self.refused(std::string("it could not be written down: ") + error.what());  // out of memory, in C code's callback
  }
  if (call.site != cupti::kEnter && self.closing != 0 && call.correlation == self.closing) {
    self.closing = 0;
    end_program_call(self);
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
      note_module(self,
                  static_cast<const cupti::ModuleData*>(static_cast<const cupti::ResourceData*>(data)->descriptor));
    } else if (domain == cupti::kDriverApi) {
      on_driver_call(self, *static_cast<const cupti::CallbackData*>(data));
    }
  } catch (const std::exception&) {
    // Out of memory: of a module, the code is missing when it is looked for; of a call, its end writes nothing.
  }
  is_ours = was_ours;
}

}  // namespace
}  // namespace recorder

using recorder::State;
using recorder::state;

std::string CallRecorder::start() {
  if (!recorder::can_record(driver_)) {
    return recorder::kOldDriver;
  }
  state().driver = driver_;
  return subscribe();
}

std::string CallRecorder::start(WantedCall wanted, std::function<void(const ProgramCall&)> done) {
  state().wanted = std::move(wanted);
  state().done = std::move(done);
  return subscribe();
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
  cupti::Result result = cupti_->subscribe(&subscriber_, recorder::on_callback, nullptr);
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

void CallRecorder::begin(const std::vector<CudaRange>& tensors, cuda::Stream caller,
                         const std::vector<cuda::Pointer>& scratch, bool inverts_addresses) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  recorder::begin_call(self, tensors);
  self.inverts_addresses = inverts_addresses;
  self.fresh.insert(scratch.begin(), scratch.end());
  self.is_ordered = true;
  self.caller = caller;
}

std::string CallRecorder::inverted() {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  return self.inverted;
}

Result<RecordedCall> CallRecorder::end(const std::vector<ReturnedMemory>& results) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  self.recording = false;
  if (self.call.operations.empty()) {
    self.refused("it gives the GPU no work");
  }
  if (self.refusal.empty() && !give_results(self.call, {self.memory.begin(), self.memory.end()}, results)) {
    self.refused("it returns memory that no operation of the call works on, as an answer from before is");
  }
  if (self.refusal.empty()) {  // PyTorch leaves the seeds of a graph to the stream that it captured
    self.refusal = self.order.fault([&](const auto& operations) { return recorder::are_seen(self.call, operations); });
  }
  try {
    recorder::check_memory(self);
  } catch (const recorder::Unrecordable& refused) {
    self.refused(refused.why);
  }
  if (!self.refusal.empty()) {
    return Failure{.outcome = Outcome::refused, .evidence = std::string(kNotRecorded) + self.refusal};
  }
  return std::exchange(self.call, {});
}

// Graphs that are changed from here on nobody knows.
void CallRecorder::stop() {
  {
    const std::lock_guard lock(state().mutex);
    state().executables.clear();
    state().captures.clear();
  }
  if (subscriber_ != nullptr) {
    cupti_->unsubscribe(subscriber_);  // fails only after a sticky error, which the next call reports
    subscriber_ = nullptr;
  }
}

}  // namespace apo
