// harness/worker/protocol/memory_file.cpp - memfd, seals, and one mapping.
#include "harness/worker/protocol/memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"

namespace apo {

MemoryFile::~MemoryFile() {
  release();
}

void MemoryFile::release() {
  if (memory_ != nullptr) {
    munmap(memory_, static_cast<std::size_t>(bytes_));  // cannot fail for a mapping that we made
    memory_ = nullptr;
    bytes_ = 0;
  }
}

void MemoryFile::reserve(std::int64_t bytes) {
  if (bytes <= bytes_) {
    return;
  }
  // The system would hand out more than it has, and end this process when it is touched.
  if (const std::int64_t all = physical_memory_bytes(); bytes > all) {
    throw EnvironmentError("the tensors need " + format_bytes(static_cast<double>(bytes)) +
                               " of shared memory, and this machine has " + format_bytes(static_cast<double>(all)),
                           "choose a smaller workload");
  }
  release();
  const auto fail = [&](const char* what) {
    throw EnvironmentError(fmt::format("cannot {} {} bytes of shared memory: {}", what, bytes, std::strerror(errno)));
  };
  file_ = FileDescriptor(memfd_create("apo-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file_ || ftruncate(file_.get(), bytes) != 0 ||
      fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    fail("create");
  }
  void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    fail("map");
  }
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
}

}  // namespace apo
