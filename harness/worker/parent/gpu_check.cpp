// harness/worker/parent/gpu_check.cpp - starts a process without a candidate on the GPU of one that failed.
#include "harness/worker/parent/gpu_check.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"

namespace apo {
namespace {

constexpr const char* kHint =
    "'nvidia-smi' and the kernel's log ('dmesg', Xid) say why. Nothing was decided about the candidate: when 'apo "
    "doctor' finds the GPU again, the same command goes on";

// Why a new process cannot use this GPU; "" when it can.
std::string trouble_with(const WorkerOptions& options, const DeviceFacts& gpu) {
  WorkerOptions fresh = options;
  fresh.watcher.clear();
  fresh.watch_modules = false;
  fresh.await_start = true;
  // The GPU is awake: another process takes less than a second.
  fresh.start_deadline = std::max<std::chrono::milliseconds>(std::chrono::seconds(5), 3 * options.deadline);
  try {
    const Worker worker(fresh);
    return worker.device()->uuid == gpu.uuid ? "" : "another GPU has its number now: " + worker.device()->uuid;
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

}  // namespace

void require_gpu(const WorkerOptions& options, const DeviceFacts& gpu, const Failure& failure, bool has_host_code) {
  const std::string what = gpu.name + " (" + gpu.uuid + ")";
  if (failure.of_device && !has_host_code) {
    throw DeviceLost("the GPU failed, " + what + ": " + failure.evidence, kHint);
  }
  if (failure.outcome != Outcome::faulted && failure.outcome != Outcome::timed_out) {
    return;
  }
  if (const std::string trouble = trouble_with(options, gpu); !trouble.empty()) {
    throw DeviceLost("the GPU was lost, " + what + ": " + failure.evidence + "; a new process: " + trouble, kHint);
  }
}

}  // namespace apo
