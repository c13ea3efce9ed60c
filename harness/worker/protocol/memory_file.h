// harness/worker/protocol/memory_file.h - a memory file for shared tensors; reuse costs no page faults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/core/system/files.h"

namespace apo {

// A sealed file mapped in this process. Without the seal, a worker that shrank the file would make the parent's next
// access a SIGBUS.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Makes it hold at least `bytes`; a larger file replaces the old one. Throws EnvironmentError.
  void reserve(std::int64_t bytes);
  std::byte* data() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }
  int fd() const { return file_.get(); }

 private:
  void release();

  FileDescriptor file_;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace apo
