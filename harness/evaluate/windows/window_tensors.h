// harness/evaluate/windows/window_tensors.h - the tensors of one window: a set for each of its calls, in one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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

}  // namespace apo
