// harness/evaluate/windows/arm_process.h - one arm of a comparison on a host: a process that runs in windows only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/runtime/timed_workload.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

class WindowTensors {
 public:
  // Lays `calls` copies out, which differ only in their place; 0 is allowed, for empty windows. Nothing of what stood
  // in the memory earlier is left.
  WindowTensors(SharedTensorsSpec spec, int calls, std::shared_ptr<MemoryFile> memory);

  SharedTensors& call(int index) { return *calls_.at(static_cast<std::size_t>(index)); }
  int calls() const { return layout_.copies; }
  void poison_outputs();
  // Out of every level of the CPU's caches, with what lies between the buffers.
  void evict() const;
  std::optional<GuardDamage> check_guards() const;

  const SharedTensorsLayout& layout() const { return layout_; }
  int fd() const { return memory_->fd(); }

 private:
  std::shared_ptr<MemoryFile> memory_;
  SharedTensorsLayout layout_;
  std::vector<std::unique_ptr<SharedTensors>> calls_;
};

// The candidate and a thin shim: no clock, no inputs but those of the next window, no rival. Failures have slot 0.
class ArmProcess {
 public:
  // Starts the process; `runtime` and the arm have to outlive it. Equal seeds give equal layouts.
  ArmProcess(const Runtime& runtime, const TimedArm& arm, const Axes& axes, std::vector<int> cpus,
             std::uint64_t layout_seed);

  // Links the arm's code in the order that the seed draws (0: as the compiler made it). May run beside that of others.
  void link(std::uint64_t code_seed);
  // Loads what was linked last.
  Result<Done> load();
  // Lays out tensors for windows of so many calls, in this process's place in memory or, with another seed, elsewhere.
  Result<Done> attach(int calls, std::uint64_t layout_seed);

  // Calls once on each of `inputs`, as many as attach() was told. They are written, the outputs poisoned and, when
  // cold, everything evicted while the process is stopped.
  Result<WindowTimes> window(std::span<const CheckedPointer> inputs, CachePolicy cache);
  // Looks at the outputs of one call of the last window; inspect_call() has the parameters.
  std::optional<Failure> inspect(int call, const CheckedInputs& inputs, const std::string& whose,
                                 CallFindings& findings);
  // The same without the reference: hold_all().
  std::optional<Failure> hold_all(int call, const CheckedInputs& inputs, const std::string& whose,
                                  const TypicalErrors& typical, CallFindings& findings);
  // The outputs of one call of the last window, where they stand until the next one.
  OutputViews outputs(int call) const;
  // Looks at all that the process may have touched: the memory between its buffers, and its code.
  std::optional<Failure> inspect_process();

  Worker& worker() { return worker_; }

 private:
  const Runtime& runtime_;
  const TimedArm& arm_;
  const Axes& axes_;
  int threads_;  // of the parent, which waits on the CPUs of this process
  Worker worker_;
  std::shared_ptr<MemoryFile> memory_;  // of this process alone: a file is a place for notes to the next
  std::unique_ptr<WindowTensors> tensors_;
  TemporaryFolder linked_;
  int links_ = 0;
  Build build_;
};

}  // namespace apo
