// harness/loop/bench.cpp - loads, attaches, and asks for samples.
#include "harness/loop/bench.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/core/secret.h"
#include "harness/worker/samples.h"

namespace apo {

WorkerOptions bench_options(const Lab& lab, int threads, std::uint64_t layout_seed) {
  WorkerOptions options = lab.worker;
  options.cpus = usable_cpus();
  options.cpus.resize(static_cast<std::size_t>(std::min<int>(threads, static_cast<int>(options.cpus.size()))));
  options.layout_seed = layout_seed;
  return options;
}

std::shared_ptr<const Arena> bench_arena(const Lab& lab, const Configuration& configuration, const Axes& axes,
                                         const InputSet& inputs) {
  const auto arena = std::make_shared<Arena>(
      arena_spec(*lab.family, axes, 1, lab.scratch(configuration, axes), {}, secret_seed(), lab.worker.target));
  share_inputs(*arena, 0, *lab.family, inputs, lab.threads);
  return arena;
}

Bench::Bench(const Build& build, const Configuration& configuration, std::shared_ptr<const Arena> arena,
             std::unique_ptr<Worker> worker, Target target)
    : label_(configuration.label()), target_(target), arena_(std::move(arena)), worker_(std::move(worker)) {
  worker_->await_start();
  require(load_build(*worker_, 0, build));
  require(worker_->attach(*arena_));
}

std::vector<double> Bench::time(int calls, CachePolicy cache, int repetitions) {
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

std::vector<double> Bench::record(int calls, CachePolicy cache, int repetitions, std::string& missing) {
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
void Bench::require(const Result<T>& result) const {
  if (!result) {
    throw EnvironmentError("cannot profile " + label_ + ": " + std::string(to_string(result.failure().outcome)) + ", " +
                           result.failure().evidence);
  }
}

}  // namespace apo
