// harness/worker/parent/worker_options.cpp - composes the environment of a worker's process.
#include "harness/worker/parent/worker_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/worker/protocol/protocol.h"
#include "kernels/random.h"

namespace apo {

std::vector<std::string> worker_environment(const WorkerOptions& options) {
  constexpr std::uint64_t kMaxPadding = 4096;
  std::vector<std::string> result;
  for (const char* name : {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      result.push_back(std::string(name) + "=" + value);
    }
  }
  if (options.target == Target::cuda) {
    // Where CUPTI may lie, and the tool that is to see this process's NVTX ranges.
    for (const char* name : {"APO_CUPTI_LIBRARY", "CUDA_HOME", "CUDA_PATH", "NVTX_INJECTION64_PATH"}) {
      if (const char* value = std::getenv(name); value != nullptr) {
        result.push_back(std::string(name) + "=" + value);
      }
    }
  }
  // Threads that spin while they wait would take the CPU from the other slot.
  result.insert(result.end(), {"OMP_WAIT_POLICY=passive", "OMP_DYNAMIC=false",
                               fmt::format("OMP_NUM_THREADS={}", options.cpus.size())});
  if (!options.preload.empty()) {
    const std::int64_t megabytes = options.memory_limit_bytes >> 20;
    result.push_back("LD_PRELOAD=" + options.preload);
    result.push_back("ASAN_OPTIONS=detect_leaks=0:color=never:halt_on_error=1:verify_asan_link_order=0:" +
                     fmt::format("hard_rss_limit_mb={}", megabytes));
    result.push_back("UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=0:color=never");
  }
  if (!options.watcher.empty()) {
    result.push_back(std::string(kWatchedVariable) + "=1");
  }
  Random random(derive_seed(options.layout_seed, "environment"));
  result.push_back("APO_PADDING=" + std::string(random.below(kMaxPadding + 1), 'x'));
  result.insert(result.end(), options.environment.begin(), options.environment.end());
  return result;
}

}  // namespace apo
