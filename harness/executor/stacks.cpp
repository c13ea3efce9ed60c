// harness/executor/stacks.cpp - one mapping, of which only touched pages use memory.
#include "harness/executor/stacks.h"

#include <sys/mman.h>

#include <new>

namespace apo::executor {

using apo_cpu::kStackBytes;

Stacks::Stacks(unsigned count) : bytes_((count + std::size_t{1}) * kStackBytes), count_(count) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) {
    throw std::bad_alloc();
  }
  begin_ = (reinterpret_cast<std::uintptr_t>(memory_) + kStackBytes - 1) / kStackBytes * kStackBytes;
  for (unsigned i = 0; i < count; ++i) {
    // Fails only when the system runs out of mappings; then an overflow is not caught.
    mprotect(reinterpret_cast<void*>(begin_ + i * kStackBytes), 4096, PROT_NONE);
  }
}

Stacks::~Stacks() {
  munmap(memory_, bytes_);
}

}  // namespace apo::executor
