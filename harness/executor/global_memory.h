// harness/executor/global_memory.h - the buffers of a call: bounds, write permission, initialised bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/executor/device/interface.h"

namespace apo::executor {

struct Buffer {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool writable = true;
  bool written = true;  // holds values when the call begins
};

struct GlobalMistake {
  const char* kind = "";
  std::string what;
};

// May be used by several threads at once. Writes are noted without locks: kernels that race for a byte of global memory
// write the same note.
class GlobalMemory {
 public:
  // `tensors_begin` and `tensors_end` enclose the buffers and their guards.
  GlobalMemory(std::vector<Buffer> buffers, std::uintptr_t tensors_begin, std::uintptr_t tensors_end);

  bool holds(std::uintptr_t address) const { return address - begin_ < end_ - begin_; }
  // `hint` caches the buffer of the caller's last access.
  std::optional<GlobalMistake> access(std::uintptr_t address, std::size_t bytes, apo_cpu::Access kind,
                                      std::size_t& hint);

 private:
  std::size_t find(std::uintptr_t address) const;
  std::optional<GlobalMistake> outside(const Buffer& buffer, std::uintptr_t address, std::size_t bytes) const;

  std::vector<Buffer> buffers_;                            // by address
  std::vector<std::unique_ptr<unsigned char[]>> written_;  // of each buffer, a byte a byte; null when all of it is
  std::uintptr_t begin_;
  std::uintptr_t end_;
};

}  // namespace apo::executor
