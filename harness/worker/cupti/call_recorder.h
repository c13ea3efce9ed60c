// harness/worker/cupti/call_recorder.h - writes down what one call puts on the GPU, from CUPTI's callbacks.
//
//   recorder.start();               // before the program's modules are loaded
//   recorder.begin(tensors);
//   ... the call ...
//   const Result<RecordedCall> call = recorder.end();
//
// What a replay could not repeat is a Failure that names the first such operation: a copy from or to the host, a graph,
// a kernel that reads host memory, an address between tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/module.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Only one may exist in a process: CUPTI has one subscriber, and its callbacks know no owner.
class CallRecorder {
 public:
  // `driver` has to outlive it.
  explicit CallRecorder(const cuda::Driver& driver) : driver_(driver) {}
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;
  ~CallRecorder() { stop(); }

  // Notes modules and tensor maps from here on. Returns the reason why that is impossible, or "".
  std::string start();
  // `tensors`: those of the call and its scratch, in the order of its argument struct.
  void begin(const std::vector<CudaRange>& tensors);
  // Waits for the whole context.
  Result<RecordedCall> end();
  void stop();

 private:
  const cuda::Driver& driver_;
  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
};

}  // namespace apo
