// harness/executor/stacks.h - the stacks of emulated threads: aligned to their size, each with a guard page.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/executor/device/interface.h"

namespace apo::executor {

class Stacks {
 public:
  // Throws std::bad_alloc.
  explicit Stacks(unsigned count);
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  apo_cpu::Thread& thread(unsigned index) const {
    return *(reinterpret_cast<apo_cpu::Thread*>(begin_ + (index + 1) * apo_cpu::kStackBytes) - 1);
  }
  // The begin of a thread's stack, which grows down.
  void* top(unsigned index) const { return &thread(index); }
  static constexpr std::size_t kUsable = apo_cpu::kStackBytes - 4096 - sizeof(apo_cpu::Thread);
  bool holds(std::uintptr_t address) const { return address - begin_ < count_ * apo_cpu::kStackBytes; }

 private:
  void* memory_;
  std::size_t bytes_;
  std::uintptr_t begin_ = 0;
  unsigned count_;
};

}  // namespace apo::executor
