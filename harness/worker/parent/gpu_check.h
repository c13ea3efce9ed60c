// harness/worker/parent/gpu_check.h - tells a candidate's failure from a GPU that was lost while the candidate ran.
#pragma once

#include "harness/core/records/device_facts.h"
#include "harness/worker/parent/worker_options.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Judges the failure of a worker on target cuda that had `gpu`. After a fault or a missing answer it starts a process
// without a candidate on the same GPU, because error codes do not tell: a kernel that traps and a GPU that left the bus
// may both be a "launch failure". Throws DeviceLost where the failure says nothing about the candidate. An error that
// names the GPU counts only where no host code runs, which could cause or forge it.
void require_gpu(const WorkerOptions& options, const DeviceFacts& gpu, const Failure& failure, bool has_host_code);

}  // namespace apo
