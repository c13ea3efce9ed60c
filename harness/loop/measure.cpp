// harness/loop/measure.cpp - workers at 1..n threads; the counters run in calls that nobody times.
#include "harness/loop/measure.h"

#include <future>
#include <numeric>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/secret.h"
#include "harness/loop/bench.h"
#include "harness/loop/measure_cuda.h"
#include "harness/profile/perf_counters.h"

namespace apo {
namespace {

struct Prepared {
  Build build;
  InputSet inputs;
};

// Beside each other. Throws EnvironmentError where there is nothing to profile.
Prepared prepare(const Lab& lab, const Configuration& configuration, const Workload& workload) {
  const StageRange range("build and inputs");
  auto inputs = std::async(std::launch::async, [&] {
    return make_inputs(*lab.family, workload.axes, secret_seed(), lab.family->regimes.front(), lab.threads);
  });
  Build build = lab.build(configuration, workload.axes, false);
  if (build.outcome != Outcome::valid) {
    throw EnvironmentError("cannot profile " + configuration.label() + ": it does not build", build.evidence);
  }
  return {.build = std::move(build), .inputs = inputs.get()};
}

double needed_bytes(const Lab& lab, const Configuration& configuration, const Workload& workload) {
  const std::vector<std::int64_t> scratch = lab.scratch(configuration, workload.axes);
  return static_cast<double>(tensor_bytes(*lab.family, workload.axes)) +
         std::accumulate(scratch.begin(), scratch.end(), 0.0);
}

DeviceTurns::Turn take_turn(const Lab& lab, Observer& observer) {
  const StageRange range("wait for a turn");
  return lab.take_turn([&observer](const std::string& line) { observer.say(line); });
}

Profile profile_on_host(const Lab& lab, const Prepared& prepared, ProfileInputs measured, const Workload& workload,
                        const Machine& machine, CachePolicy cache, Observer& observer) {
  const Configuration& configuration = measured.configuration;
  const auto bench_on = [&](int threads) {
    auto worker = std::make_unique<Worker>(bench_options(lab, threads, secret_seed()));
    return Bench(prepared.build, configuration, bench_arena(lab, configuration, workload.axes, prepared.inputs),
                 std::move(worker), lab.worker.target);
  };
  Bench all = bench_on(machine.cores);
  const double first_ns = all.time(3, cache).back();
  const ProfilePlan plan = plan_host_profile(machine.cores, first_ns, 2.0);
  for (const int threads : plan.thread_counts) {
    observer.progress({.what = "profile " + configuration.label() + " on " + std::to_string(threads) + " threads"});
    if (threads == machine.cores) {
      continue;  // last, in the worker that is there already
    }
    Bench bench = bench_on(threads);
    bench.time(plan.warmup_calls, cache);
    measured.times.push_back({.threads = threads, .ns = bench.time(plan.timed_calls, cache)});
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
  profile.conditions = caches_text(cache);
  return profile;
}

}  // namespace

std::string caches_text(CachePolicy cache) {
  return cache == CachePolicy::cold ? "cold caches" : "warm caches";
}

Profile measure_profile(const Lab& lab, const Configuration& configuration, const Workload& workload,
                        const Machine& machine, const std::vector<Roof>& roofs, CachePolicy cache, Observer& observer,
                        const CounterChoice& choice) {
  const StageRange range("profile " + configuration.label());
  std::optional<ProfileProcesses> processes;  // they start while this one builds
  if (machine.target == Target::cuda) {
    processes.emplace(lab, needed_bytes(lab, configuration, workload), machine.memory_bytes);
  }
  const Prepared prepared = prepare(lab, configuration, workload);
  ProfileInputs measured{.target = machine.target,
                         .configuration = configuration,
                         .workload = workload.name,
                         .work = lab.family->work(workload.axes),
                         .roofs = roofs,
                         .l2_bytes = machine.l2_bytes,
                         .l3_bytes = machine.l3_bytes};
  const DeviceTurns::Turn turn = take_turn(lab, observer);
  if (!processes) {
    return profile_on_host(lab, prepared, std::move(measured), workload, machine, cache, observer);
  }
  const CudaSubject subject{lab, prepared.build, prepared.inputs, configuration, workload, cache};
  return profile_on_cuda(subject, *processes, machine, std::move(measured), choice, lab.source(configuration));
}

}  // namespace apo
