// harness/runtime/device_inputs.h - input sets in a GPU's memory, for the processes of all rounds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/runtime/input_store.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/memory_file.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Uploads each set once, in a process that never loads a candidate and shares its memory with those that do: they copy
// the inputs from there to their own memory, and compare them with it afterwards, a hundred times as fast as over the
// bus. No kernel of a candidate runs while its process has that memory open.
class DeviceInputs {
 public:
  // Keeps the sets as long as this lives, or until others need their place: an eighth of the GPU's memory. Does nothing
  // where the GPU cannot share memory between processes or has no room. The calling thread has to outlive the use.
  void keep(const Family& family, const WorkerOptions& gpu, const std::vector<CheckedPointer>& sets, int threads);
  // Returns where they are; with an empty handle, nowhere.
  KeptInputs find(const CheckedInputs& inputs) const;
  // Throws EnvironmentError when the process that keeps them has ended.
  void require_process() const;

 private:
  struct Kept {
    std::weak_ptr<const CheckedInputs> checked;  // its address is the key
    KeptInputs where;
  };
  bool is_kept(const CheckedInputs& inputs) const;
  bool start(const WorkerOptions& gpu);
  bool add(const Family& family, const CheckedPointer& checked, int threads);

  mutable std::mutex mutex_;
  std::unique_ptr<Worker> process_;
  std::int64_t bytes_ = 0;
  std::map<const CheckedInputs*, Kept> kept_;
  MemoryFile file_;  // that takes each set on its way
};

}  // namespace apo
