// harness/injection/python_calls.cpp - what harness/implement/python/call_python.py calls of this library: the
// recorder, and memory for PyTorch.
//
// Each tensor is an allocation of its own. So the memory that a call returns is told apart from its scratch, and no
// scratch reaches beyond it. A block that was freed serves tensors of the same size, and holds 0xFF when a call begins,
// as new memory does: what the call reads unwritten shows in its results. Blocks that were allocated while a CUDA graph
// was captured stay that graph's for a size, as those of PyTorch's private pools do: nobody is told when it ends.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/worker/cuda/addresses.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/recorder/call_recorder.h"

namespace apo {
namespace {

constexpr std::size_t kGranularity = 512;  // bytes

// While a stream is captured, the driver gives memory only to threads in this mode.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const cuda::Driver& driver) : driver_(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() {
    if (driver_.exchange_capture_mode != nullptr) {
      driver_.exchange_capture_mode(&mode_);  // what fails here fails again in the allocation
    }
  }

  const cuda::Driver& driver_;
  int mode_ = cuda::kCaptureRelaxed;
};

class Memory {
  struct Block {
    std::size_t bytes = 0;
    bool is_captured = false;
  };

 public:
  explicit Memory(const cuda::Driver& driver) : driver_(driver) {}

  // nullptr where there is none.
  void* allocate(std::size_t bytes, cuda::Stream stream) {
    const std::lock_guard lock(mutex_);
    const RelaxedCapture relaxed(driver_);
    std::vector<cuda::Pointer>& fitting = free_[bytes];
    cuda::Pointer at = 0;
    if (!fitting.empty()) {
      at = fitting.back();
      fitting.pop_back();
    } else if (driver_.allocate(&at, room_of(bytes)) != cuda::kSuccess) {
      give_back();
      if (const cuda::Result result = driver_.allocate(&at, room_of(bytes)); result != cuda::kSuccess) {
        is_out_ = result == cuda::kOutOfMemory;  // else a kernel has failed
        return nullptr;
      }
    }
    blocks_[at] = {.bytes = bytes, .is_captured = is_captured(driver_, stream)};
    return reinterpret_cast<void*>(at);
  }

  void free(void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto at = reinterpret_cast<cuda::Pointer>(pointer);
    if (const auto known = blocks_.find(at); known != blocks_.end()) {
      (known->second.is_captured ? captured_ : free_)[known->second.bytes].push_back(at);
    }
  }

  // Fills all blocks that are free or only a graph's, and returns their addresses.
  std::vector<cuda::Pointer> clear_free() {
    const std::lock_guard lock(mutex_);
    std::vector<cuda::Pointer> cleared;
    for (const auto* const freed : {&free_, &captured_}) {
      for (const auto& [bytes, blocks] : *freed) {
        for (const cuda::Pointer at : blocks) {
          driver_.fill(at, kScratchByte, room_of(bytes), nullptr);  // an error is sticky: the call behind meets it
          cleared.push_back(at);
        }
      }
    }
    driver_.synchronize_context();
    return cleared;
  }

  bool is_out() const { return is_out_; }

  // The graphs so far are launched no more.
  void end_graphs() {
    const std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : captured_) {
      free_[bytes].insert(free_[bytes].end(), blocks.begin(), blocks.end());
    }
    captured_.clear();
  }

  // All blocks that are free.
  void give_back() {
    const std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : free_) {
      for (const cuda::Pointer at : blocks) {
        driver_.free(at);  // waits for the GPU; what fails stays taken
        blocks_.erase(at);
      }
      blocks.clear();
    }
  }

 private:
  // The end of a tensor is never the begin of another one.
  static std::size_t room_of(std::size_t bytes) { return (bytes / kGranularity + 1) * kGranularity; }

  const cuda::Driver& driver_;
  std::recursive_mutex mutex_;
  std::map<std::size_t, std::vector<cuda::Pointer>> free_;      // by their bytes
  std::map<std::size_t, std::vector<cuda::Pointer>> captured_;  // likewise: what was freed, and may be a graph's
  std::map<cuda::Pointer, Block> blocks_;
  bool is_out_ = false;
};

struct Recording {
  std::unique_ptr<const cuda::Driver> driver;
  cuda::Context context = nullptr;
  std::optional<Memory> memory;
  std::optional<CallRecorder> recorder;
  Settling settling;
  std::string said;
  std::int64_t unsettled = 0;
};

// Never destroyed: PyTorch frees memory while the process ends.
Recording& recording() {
  static auto* const kRecording = new Recording;
  return *kRecording;
}

// A thread that PyTorch started has no context until its first launch.
void use_context(const Recording& self) {
  cuda::Device device = 0;
  if (self.driver->current_device(&device) != cuda::kSuccess) {
    self.driver->set_context(self.context);  // what fails here fails again in the call that needs it
  }
}

// Once for each size, for which the file is read anew: what that allocates is its own.
std::string start(Recording& self) {
  if (self.recorder) {
    self.settling.forget();
    self.memory->end_graphs();
    self.memory->give_back();
    return self.recorder->start();
  }
  std::string missing;
  self.driver = cuda::load_driver(missing);
  if (self.driver == nullptr) {
    return missing;
  }
  cuda::Device device = 0;
  cuda::Result result = self.driver->device_get(&device, 0);
  result = result != cuda::kSuccess ? result : self.driver->retain_context(&self.context, device);
  result = result != cuda::kSuccess ? result : self.driver->set_context(self.context);
  if (result != cuda::kSuccess) {
    return "the GPU cannot be used: " + cuda::describe(*self.driver, result);
  }
  self.memory.emplace(*self.driver);
  self.recorder.emplace(*self.driver);
  return self.recorder->start();
}

}  // namespace
}  // namespace apo

#define APO_CALLED_BY_PYTHON extern "C" __attribute__((visibility("default")))

// Returns the reason why that is impossible, or "".
APO_CALLED_BY_PYTHON const char* apo_start_recording() {
  apo::Recording& self = apo::recording();
  self.said = apo::start(self);
  return self.said.c_str();
}

APO_CALLED_BY_PYTHON void* apo_allocate(std::ptrdiff_t bytes, int /*device*/, void* stream) {
  apo::Recording& self = apo::recording();
  apo::use_context(self);
  return bytes <= 0 ? nullptr : self.memory->allocate(static_cast<std::size_t>(bytes), stream);
}

APO_CALLED_BY_PYTHON void apo_free(void* at, std::ptrdiff_t /*bytes*/, int /*device*/, void* /*stream*/) {
  apo::recording().memory->free(at);
}

APO_CALLED_BY_PYTHON int apo_is_out_of_memory() {
  const apo::Recording& self = apo::recording();
  return self.memory && self.memory->is_out() ? 1 : 0;
}

// `ranges`: address and bytes of each argument, 0 and 0 for one that the call returns.
APO_CALLED_BY_PYTHON void apo_begin_call(const std::uint64_t* ranges, int count) {
  apo::Recording& self = apo::recording();
  std::vector<apo::CudaRange> arguments;
  for (int i = 0; i < count; ++i, ranges += 2) {
    arguments.push_back({.at = ranges[0], .bytes = ranges[1]});
  }
  const std::vector<apo::cuda::Pointer> scratch = self.memory->clear_free();
  self.recorder->begin(arguments, nullptr, scratch, true);
}

// `results`: number, address and bytes of each argument that the call returned. Returns "" where it launched the same
// as the call before, which is in the file then; else why there is nothing.
APO_CALLED_BY_PYTHON const char* apo_end_call(const std::uint64_t* results, int count, const char* file) {
  apo::Recording& self = apo::recording();
  std::vector<apo::ReturnedMemory> returned;
  for (int i = 0; i < count; ++i, results += 3) {
    returned.push_back({.argument = static_cast<int>(results[0]), .at = results[1], .bytes = results[2]});
  }
  apo::Result<apo::RecordedCall> call = self.recorder->end(returned);
  if (!call) {
    self.settling.forget();
  }
  self.said = call ? self.settling.add(*call) : call.failure().evidence;
  if (self.said.empty()) {
    self.unsettled = call->unsettled;
    std::ofstream(file, std::ios::binary) << apo::encode(*call);  // its reader sees whether it is whole
  }
  return self.said.c_str();
}

// The address in memory that was inverted when the call began, "" where there was none.
APO_CALLED_BY_PYTHON const char* apo_inverted() {
  apo::Recording& self = apo::recording();
  self.said = apo::CallRecorder::inverted();
  return self.said.c_str();
}

// Bytes of parameters that differed between the call that is in the file and the one before.
APO_CALLED_BY_PYTHON std::int64_t apo_unsettled() {
  return apo::recording().unsettled;
}

APO_CALLED_BY_PYTHON void apo_stop_recording() {
  apo::recording().recorder->stop();
}

// Waits for what the call launched; 0 where all of that went well.
APO_CALLED_BY_PYTHON int apo_synchronize() {
  const apo::Recording& self = apo::recording();
  apo::use_context(self);
  return static_cast<int>(self.driver->synchronize_context());
}
