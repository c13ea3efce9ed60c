// harness/core/system/lock_file.h - locks bytes of a file for one process; the kernel frees them when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "harness/core/system/files.h"

namespace apo {

// Bytes `first` .. `first + count - 1`, whether or not anything stands there.
struct LockedBytes {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

// Locks of an open file, not of a process: two in one process keep each other out as well.
class LockFile {
 public:
  LockFile() = default;
  // Makes the file where there is none, and opens none through a symbolic link; trouble() says why it is not open.
  explicit LockFile(const std::string& path);

  // Why nothing can be locked here; empty where it can.
  const std::string& trouble() const { return trouble_; }
  // All of them, or none and false: another has some, or there is trouble.
  bool try_lock(LockedBytes bytes);
  // The same, for as long as `patience`.
  bool lock_within(LockedBytes bytes, std::chrono::milliseconds patience);
  void unlock(LockedBytes bytes);
  // The first byte of who holds some of these; -1: nobody does any more.
  std::int64_t holder_of(LockedBytes bytes) const;

  const FileDescriptor& file() const { return file_; }

 private:
  FileDescriptor file_;
  std::string path_;
  std::string trouble_ = "no lock file";
};

}  // namespace apo
