// harness/implement/executor_builder.h - builds a device variant for the CPU, into an object that harness/executor
// runs.
#pragma once

#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/cached_build.h"

namespace apo {

// The facts of an NVIDIA H200, which launch expressions see where there is no GPU. They decide only how many blocks are
// started and what fits: no time is ever taken.
DeviceFacts executor_device();

// Outcomes: build_failed; wrong_abi when a kernel that apo:launch names is not there; refused when the launch does not
// fit the device, or when the source uses what has no equivalent on the CPU ("not checkable on the CPU: NAME").
Build build_for_executor(const BuildOptions& options, const Toolchain& compiler, const BuildCache& cache,
                         const Family& family, const Variant& variant, const Axes& axes, const Settings& settings);

// A build of what the executor does not check at all; `what` names it.
Build not_checkable(const std::string& what);

}  // namespace apo
