// harness/runtime/candidate_process.cpp - loads, attaches, and asks for samples.
#include "harness/runtime/candidate_process.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/worker/parent/samples.h"

namespace apo {

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
