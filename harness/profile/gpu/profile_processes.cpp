// harness/profile/gpu/profile_processes.cpp - starts the processes in order and takes them in that order.
#include "harness/profile/gpu/profile_processes.h"

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/secret.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kShare = 4;  // tensors that take a larger part of the memory than 1/4 have it alone

}  // namespace

ProfileProcesses::ProfileProcesses(const Runtime& runtime, double need_bytes, std::int64_t memory_bytes)
    : runtime_(runtime),
      roomy_(kShare * need_bytes <= static_cast<double>(memory_bytes)),
      seed_(secret_seed()),
      fresh_(runtime.worker_pool->take_kept(false)) {
  start_ahead(1);
}

WorkerOptions ProfileProcesses::options(int index) const {
  return process_options(runtime_, runtime_.threads, derive_seed(seed_, "process", static_cast<std::uint64_t>(index)));
}

void ProfileProcesses::start_ahead(int count) {
  try {
    while (roomy_ && started_ - taken_ < count) {
      ahead_.start(options(started_));
      ++started_;
    }
  } catch (const EnvironmentError&) {
    // The user of that process starts it again and gets the error.
  }
}

std::unique_ptr<Worker> ProfileProcesses::take() {
  if (fresh_ != nullptr) {
    return std::move(fresh_);
  }
  const int index = taken_++;
  started_ = std::max(started_, taken_);
  return ahead_.take(options(index));
}

CandidateProcess ProfileProcesses::next(const CudaSubject& subject, const std::string& purpose, int ahead) {
  if (!roomy_) {
    await_quiet(purpose, false);  // it needs the memory of the one before
  }
  std::unique_ptr<Worker> worker = take();
  if (shared_tensors_ == nullptr || subject.build.plan.launches.empty()) {
    const StageRange range("lay out the tensors for " + purpose);
    shared_tensors_ = process_tensors(runtime_, subject.configuration, subject.workload.axes, subject.inputs);
  }
  {
    const StageRange range("start of the process for " + purpose);
    worker->await_start();
  }
  tell_stage("whole start of the process for " + purpose, worker->start_seconds());
  start_ahead(ahead);
  const StageRange range("load and attach for " + purpose);
  return {subject.build, subject.configuration, shared_tensors_, std::move(worker), runtime_.worker.target};
}

void ProfileProcesses::end(CandidateProcess& candidate) {
  runtime_.worker_pool->end(candidate.take_worker());
}

void ProfileProcesses::await_quiet(const std::string& purpose, bool starts) {
  const StageRange range("others start and end before " + purpose);
  runtime_.worker_pool->await_ends();
  if (starts) {
    ahead_.await_starts();
  }
}

}  // namespace apo
