// harness/profile/gpu/profile_processes.cpp - loads, attaches and asks for samples; starts processes in order.
#include "harness/profile/gpu/profile_processes.h"

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/worker/parent/evidence.h"
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
  if (shared_tensors_ == nullptr) {
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

WorkerOptions process_options(const Runtime& runtime, int threads, std::uint64_t layout_seed) {
  WorkerOptions options = runtime.worker;
  options.cpus = usable_cpus();
  options.cpus.resize(static_cast<std::size_t>(std::min<int>(threads, static_cast<int>(options.cpus.size()))));
  options.layout_seed = layout_seed;
  return options;
}

std::shared_ptr<const SharedTensors> process_tensors(const Runtime& runtime, const Configuration& configuration,
                                                     const Axes& axes, const InputSet& inputs) {
  const auto shared_tensors = std::make_shared<SharedTensors>(shared_tensors_spec(
      *runtime.family, axes, 1, runtime.scratch(configuration, axes), {}, secret_seed(), runtime.worker.target));
  share_inputs(*shared_tensors, 0, *runtime.family, inputs, runtime.threads);
  return shared_tensors;
}

CandidateProcess::CandidateProcess(const Build& build, const Configuration& configuration,
                                   std::shared_ptr<const SharedTensors> shared_tensors, std::unique_ptr<Worker> worker,
                                   Target target)
    : label_(configuration.label()),
      target_(target),
      shared_tensors_(std::move(shared_tensors)),
      worker_(std::move(worker)) {
  worker_->await_start();
  require(load_build(*worker_, 0, build));
  require(worker_->attach(*shared_tensors_));
}

std::vector<double> CandidateProcess::time(int calls, CachePolicy cache, int repetitions) {
  std::vector<double> ns;
  for (int done = 0; done < calls;) {
    RunRequest request;
    const int some = std::min(calls - done, 32);
    request.order.assign(static_cast<std::size_t>(some), 0);
    request.sets.assign(static_cast<std::size_t>(some), 0);
    request.cache = cache;
    request.repetitions = repetitions;
    const auto samples = worker_->run(request);
    require(samples);
    for (const RawSample& sample : *samples) {
      ns.push_back(elapsed_ns(sample, target_) / repetitions);
    }
    done += some;
  }
  return ns;
}

std::vector<double> CandidateProcess::record(int calls, CachePolicy cache, int repetitions, std::string& missing) {
  RunRequest request{.repetitions = repetitions, .cache = cache, .activity = true};
  request.order.assign(static_cast<std::size_t>(calls), 0);
  const auto samples = worker_->run(request);
  require(samples);
  missing = worker_->activity_missing();
  std::vector<double> ns;
  for (const RawSample& sample : *samples) {
    ns.push_back(static_cast<double>(sample.activity_ns) / repetitions);
  }
  return missing.empty() ? ns : std::vector<double>();
}

template <class T>
void CandidateProcess::require(const Result<T>& result) const {
  if (!result) {
    throw EnvironmentError("cannot profile " + label_ + ": " + std::string(to_string(result.failure().outcome)) + ", " +
                           result.failure().evidence);
  }
}

}  // namespace apo
