// harness/profile/measure.cpp - times workers at 1..n threads; counters run in untimed calls.
#include "harness/profile/measure.h"

#include <fmt/format.h>

#include <cmath>
#include <future>
#include <numeric>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/secret.h"
#include "harness/profile/gpu/profile_processes.h"
#include "harness/profile/host/host_profile.h"
#include "harness/profile/host/perf_counters.h"
#include "harness/profile/host/vector_code.h"

namespace apo {
namespace {

struct Prepared {
  Build build;
  InputSet inputs;
};

// Beside each other. Throws EnvironmentError where there is nothing to profile.
Prepared prepare(const Runtime& runtime, const Configuration& configuration, const Workload& workload) {
  const StageRange range("build and inputs");
  auto inputs = std::async(std::launch::async, [&] {
    return make_inputs(*runtime.family, workload.axes, secret_seed(), runtime.family->regimes.front(), runtime.threads);
  });
  Build build = runtime.build(configuration, workload.axes, false);
  if (build.outcome != Outcome::valid) {
    throw EnvironmentError("cannot profile " + configuration.label() + ": it does not build", build.evidence);
  }
  return {.build = std::move(build), .inputs = inputs.get()};
}

double needed_bytes(const Runtime& runtime, const Configuration& configuration, const Workload& workload) {
  const std::vector<std::int64_t> scratch = runtime.scratch(configuration, workload.axes);
  return static_cast<double>(tensor_bytes(*runtime.family, workload.axes)) +
         std::accumulate(scratch.begin(), scratch.end(), 0.0);
}

DeviceTurns::Turn take_turn(const Runtime& runtime, Observer& observer) {
  const StageRange range("wait for a turn");
  return runtime.take_turn([&observer](const std::string& line) { observer.say(line); });
}

Profile profile_on_host(const Runtime& runtime, const Prepared& prepared, ProfileInputs measured,
                        const Workload& workload, const Machine& machine, CachePolicy cache, Observer& observer) {
  const Configuration& configuration = measured.configuration;
  const auto process_on = [&](int threads) {
    auto worker = std::make_unique<Worker>(process_options(runtime, threads, secret_seed()));
    return CandidateProcess(prepared.build, configuration,
                            process_tensors(runtime, configuration, workload.axes, prepared.inputs), std::move(worker),
                            runtime.worker.target);
  };
  CandidateProcess all = process_on(machine.cores);
  const double first_ns = all.time(3, cache).back();
  const ProfilePlan plan = plan_host_profile(machine.cores, first_ns, 2.0);
  for (const int threads : plan.thread_counts) {
    observer.progress({.what = fmt::format("profile {} on {} threads", configuration.label(), threads)});
    if (threads == machine.cores) {
      continue;  // last, in the worker that is there already
    }
    CandidateProcess candidate = process_on(threads);
    candidate.time(plan.warmup_calls, cache);
    measured.times.push_back({.threads = threads, .ns = candidate.time(plan.timed_calls, cache)});
  }
  all.time(plan.warmup_calls, cache);
  measured.times.push_back({.threads = machine.cores, .ns = all.time(plan.timed_calls, cache)});
  PerfCounters counters(all.worker().pid());
  counters.start();
  all.time(plan.counted_calls, CachePolicy::warm);
  counters.stop();
  measured.counters = counters.read();
  measured.counted_calls = plan.counted_calls;
  measured.rung = counters.rung();
  measured.missing = counters.missing();
  Profile profile = assemble_profile(measured);
  if (const double share = vector_share(prepared.build.object_path); std::isfinite(share)) {
    profile.metrics.push_back({.name = "vector_share", .value = share, .unit = "ratio"});
  }
  return profile;
}

}  // namespace

Profile measure_profile(const Runtime& runtime, const Configuration& configuration, const Workload& workload,
                        const Machine& machine, const std::vector<Roof>& roofs, CachePolicy cache, Observer& observer,
                        const CounterChoice& choice) {
  const StageRange range("profile " + configuration.label());
  std::optional<ProfileProcesses> processes;  // they start while this one builds
  if (machine.target == Target::cuda) {
    processes.emplace(runtime, needed_bytes(runtime, configuration, workload), machine.memory_bytes);
  }
  observer.progress({.what = "build " + configuration.label()});
  const Prepared prepared = prepare(runtime, configuration, workload);
  ProfileInputs measured{.target = machine.target,
                         .configuration = configuration,
                         .workload = workload.name,
                         .work = runtime.family->work(workload.axes),
                         .roofs = roofs,
                         .l2_bytes = machine.l2_bytes,
                         .l3_bytes = machine.l3_bytes,
                         .conditions = caches_text(cache)};
  const DeviceTurns::Turn turn = take_turn(runtime, observer);
  if (!processes) {
    return profile_on_host(runtime, prepared, std::move(measured), workload, machine, cache, observer);
  }
  const CudaSubject subject{runtime, prepared.build, prepared.inputs, configuration, workload, cache};
  return profile_on_cuda(subject, *processes, machine, std::move(measured), choice, runtime.sources(configuration));
}

}  // namespace apo
