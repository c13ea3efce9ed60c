// harness/worker/cupti/profiled_gpu.cpp - locks a file; the kernel releases the lock when the process ends.
#include "harness/worker/cupti/profiled_gpu.h"

#include <filesystem>

namespace apo {

std::string profiler_lock_path(const std::string& uuid) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return ((error ? std::filesystem::path("/tmp") : folder) / ("apo-profiler-" + uuid + ".lock")).string();
}

ProfilerLock::ProfilerLock(const std::string& uuid, std::chrono::milliseconds patience)
    : file_(profiler_lock_path(uuid)), held_(file_.lock_within({}, patience)) {}

}  // namespace apo
