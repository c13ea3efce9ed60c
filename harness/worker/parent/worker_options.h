// harness/worker/parent/worker_options.h - the start of a worker: program, target, CPUs, limits, environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace apo {

struct WorkerOptions {
  std::filesystem::path program;  // empty = this program; run as `program worker`
  // A program with its arguments that starts and watches the worker, such as compute-sanitizer. It gets time to write
  // its report when the worker ends. On target cuda every tensor is then an allocation of its own, of its exact size,
  // so that an access past its end leaves its allocation; times are meaningless.
  std::vector<std::string> watcher;
  Target target = Target::host;
  int device = 0;         // target cuda: which GPU
  bool executor = false;  // target host: runs device variants on this CPU, scheduled by layout_seed
  std::vector<int> cpus;  // to pin to; empty = all that this process may use
  std::int64_t memory_limit_bytes = std::int64_t{16} << 30;  // address space beyond the tensors; 0 = no limit
  std::vector<std::string> environment;                      // "NAME=value", added to the worker's short one
  std::string preload;                                       // libasan, for candidates built with sanitizers
  std::chrono::milliseconds deadline{9'000};   // of a request that names none: what hangs is gone within ten seconds
  std::chrono::milliseconds start_deadline{};  // of the first answer; 0 = that of the target
  std::uint64_t layout_seed = 0;               // draws 0 to 4 KiB of environment padding
  // On target cuda, asks the driver through CUPTI which machine code it has loaded. Times are meaningless then.
  bool watch_modules = false;
  std::stop_token stop = {};  // a request that waits for its answer then throws Cancelled
  bool await_start = true;  // false: the constructor returns at once, and await_start() comes before the first request
};

// Returns the whole environment of such a process. It is short on purpose: our environment is no business of a
// candidate.
std::vector<std::string> worker_environment(const WorkerOptions& options);

}  // namespace apo
