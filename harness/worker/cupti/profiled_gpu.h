// harness/worker/cupti/profiled_gpu.h - the GPU that a profiler of CUPTI works on, and its lock among processes.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "harness/core/system/lock_file.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cupti/cupti.h"

namespace apo {

// The profiled GPU. Its context is current in this thread.
struct ProfiledGpu {
  int device = 0;
  int index = 0;  // CUDA's ordinal
  std::string uuid;
  cupti::Context context = nullptr;
};

// The longest wait for another worker that profiles the same GPU.
inline constexpr std::chrono::milliseconds kProfilerPatience{60'000};

// The lock's file, in the system's folder for temporary files.
inline std::string profiler_lock_path(const std::string& uuid) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return ((error ? std::filesystem::path("/tmp") : folder) / ("apo-profiler-" + uuid + ".lock")).string();
}

// Holds the lock of the GPU with that UUID for its lifetime. Waits `patience` for another holder, then continues
// without the lock: the GPU itself refuses a second session (HARDWARE_BUSY), and a lock file of another user may be
// unreadable. The kernel releases it when the process ends.
class ProfilerLock {
 public:
  ProfilerLock(const std::string& uuid, std::chrono::milliseconds patience)
      : file_(profiler_lock_path(uuid)), held_(file_.lock_within({}, patience)) {}
  bool held() const { return held_; }

 private:
  LockFile file_;
  bool held_ = false;
};

}  // namespace apo
