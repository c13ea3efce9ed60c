// harness/implement/executor_builder.h - builds a device variant for the CPU, into an object that harness/executor
// runs.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/build_cache.h"

namespace apo {

// The facts of an NVIDIA H200, which launch expressions see where there is no GPU. They decide only how many blocks are
// started and what fits: no time is ever taken.
DeviceFacts executor_device();

struct ExecutorBuildOptions {
  std::filesystem::path home;  // holds harness/executor/device
  std::string compiler;        // g++
  std::string compiler_version;
  bool sanitize = false;  // AddressSanitizer and UndefinedBehaviorSanitizer in place of the executor's own checks
  bool debugger = false;  // says where variables are, besides lines
  double timeout_s = 120;
  std::stop_token stop = {};  // ends the compiler, and build_for_executor throws Cancelled
};

// Outcomes: build_failed; wrong_abi when a kernel that apo:launch names is not there; refused when the launch does not
// fit the device, or when the source uses what has no equivalent on the CPU ("not checkable on the CPU: NAME").
Build build_for_executor(const ExecutorBuildOptions& options, const BuildCache& cache, const Family& family,
                         const Variant& variant, const Axes& axes, const Settings& settings);

// A build of what the executor does not check at all; `what` names it.
Build not_checkable(const std::string& what);

}  // namespace apo
