// harness/core/system/lock_file.h - locks bytes of a file for one process; the kernel frees them when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "harness/core/system/files.h"

namespace apo {

// The bytes `first` .. `first + count - 1`, whether or not the file has them.
struct LockedBytes {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

// Locks belong to an open file, not to a process: two in one process exclude each other as well.
class LockFile {
 public:
  // `existing` is for holder_of() alone: it creates no file and needs no right to write it.
  enum class Opening : std::uint8_t { created, existing };

  LockFile() = default;
  // Creates the file if needed and follows no symbolic link; trouble() says why it is not open.
  explicit LockFile(const std::string& path, Opening opening = Opening::created);

  // The reason why nothing can be locked here; empty when locking works.
  const std::string& trouble() const { return trouble_; }
  // Locks all of the bytes or none. False when another holder has some, or on trouble.
  bool try_lock(LockedBytes bytes);
  // Retries for as long as `patience`.
  bool lock_within(LockedBytes bytes, std::chrono::milliseconds patience);
  void unlock(LockedBytes bytes);
  // Returns the first byte of a holder of some of these bytes; -1 when there is none any more.
  std::int64_t holder_of(LockedBytes bytes) const;

  // A place in the file takes a process id, for messages alone: without room for it the locks still hold.
  static constexpr std::int64_t kPlace = 16;
  void leave_name(std::int64_t place) const;
  std::string name_at(std::int64_t place) const;  // "process 4711", or "another process"

 private:
  FileDescriptor file_;
  std::string path_;
  std::string trouble_ = "no lock file";
};

}  // namespace apo
