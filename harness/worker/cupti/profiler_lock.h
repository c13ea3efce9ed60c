// harness/worker/cupti/profiler_lock.h - one session on the counters of a GPU at a time, among the workers of this
// machine.
#pragma once

#include <chrono>
#include <string>

#include "harness/core/system/lock_file.h"

namespace apo {

// Holds the lock of the GPU with that UUID for its lifetime. Waits `patience` for another holder, then continues
// without the lock: the GPU itself refuses a second session (HARDWARE_BUSY), and a lock file of another user may be
// unreadable.
class ProfilerLock {
 public:
  ProfilerLock(const std::string& uuid, std::chrono::milliseconds patience);
  bool held() const { return held_; }

 private:
  LockFile file_;
  bool held_ = false;
};

// The lock's file, in the system's folder for temporary files.
std::string profiler_lock_path(const std::string& uuid);

}  // namespace apo
