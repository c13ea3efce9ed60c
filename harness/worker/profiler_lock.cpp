// harness/worker/profiler_lock.cpp - a lock file that the kernel releases when its process ends, however it ends.
#include "harness/worker/profiler_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <thread>

namespace apo {

std::string profiler_lock_path(const std::string& uuid) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return ((error ? std::filesystem::path("/tmp") : folder) / ("apo-profiler-" + uuid + ".lock")).string();
}

ProfilerLock::ProfilerLock(const std::string& uuid, std::chrono::milliseconds patience)
    : file_(open(profiler_lock_path(uuid).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (file_ && !held_) {
    held_ = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    if (!held_ && std::chrono::steady_clock::now() >= until) {
      return;
    }
    if (!held_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

}  // namespace apo
