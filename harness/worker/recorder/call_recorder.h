// harness/worker/recorder/call_recorder.h - writes down what one call puts on the GPU, from CUPTI's callbacks.
//
//   recorder.start();               // before the program's modules are loaded
//   recorder.begin(tensors);
//   ... the call ...
//   const Result<RecordedCall> call = recorder.end();
//
// In a program that is not ours, start(wanted, done) waits for the launch, and writes that one down:
//
//   recorder.start({.kernel = "softmax", .nth = 3}, [](const ProgramCall& call) { ... });
//
// A launch of a CUDA graph is the work of its nodes. What a replay could not repeat is a Failure that names the first
// such operation: a copy to the host, a kernel that reads host memory, an address between tensors; so is work on
// another stream that nothing orders with the caller's. Memory that is allocated within the call is filled with 0xFF,
// so that its results show what reads it unwritten.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/worker/cuda/addresses.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/recorder/wanted_call.h"

namespace apo {

// Only one may exist in a process: CUPTI has one subscriber, and its callbacks know no owner.
class CallRecorder {
 public:
  // `driver` has to outlive it.
  explicit CallRecorder(const cuda::Driver& driver) : driver_(&driver) {}
  // Of a program: the driver is loaded when the wanted call begins.
  CallRecorder() = default;
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;
  ~CallRecorder() { stop(); }

  // Notes modules and tensor maps from here on. Returns the reason why that is impossible, or "".
  std::string start();
  // Calls `done` once, on the thread that the call ends on, with the call or the reason why there is none.
  std::string start(WantedCall wanted, std::function<void(const ProgramCall&)> done);
  // The calling thread enters and leaves an NVTX range.
  static void enter_range(std::string_view name);
  static void leave_range();
  // An NVTX mark; within the wanted range one such as "apo:output y bf16[4096] 0x7f2a00000000" names memory.
  static void name_memory(std::string_view mark);
  // The program ends: what was waited for did not come.
  static void give_up();
  // `tensors`: those of the call and its scratch, in the order of its argument struct. `caller`: the stream that they
  // are written and read on. `scratch`: allocations that are free and hold kScratchByte, which the call may take.
  // `inverts_addresses`: those that lie in memory of the call's own are taken for stale, and inverted there and in the
  // recording, where they are else a Failure: a call that follows one fails.
  void begin(const std::vector<CudaRange>& tensors, cuda::Stream caller = nullptr,
             const std::vector<cuda::Pointer>& scratch = {}, bool inverts_addresses = false);
  // Where the first of them was since the call began; "" where there was none.
  static std::string inverted();
  // `results`: memory of the call's own that it returned.
  Result<RecordedCall> end(const std::vector<ReturnedMemory>& results = {});
  void stop();

 private:
  std::string subscribe();

  const cuda::Driver* driver_ = nullptr;
  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
};

}  // namespace apo
