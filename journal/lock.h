// journal/lock.h - one writer at a time: an flock on <journal>.lock, which the system frees when the writer dies.
#pragma once

#include <filesystem>

#include "harness/core/files.h"

namespace apo {

class WriterLock {
 public:
  // Throws UserError naming the process that holds it.
  explicit WriterLock(const std::filesystem::path& journal);

 private:
  FileDescriptor file_;
};

}  // namespace apo
