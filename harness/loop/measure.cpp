// harness/loop/measure.cpp - workers at 1..n threads; the counters run in calls that nobody times.
#include "harness/loop/measure.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/core/nvtx.h"
#include "harness/core/secret.h"
#include "harness/core/text.h"
#include "harness/profile/cuda_counters.h"
#include "harness/profile/occupancy.h"
#include "harness/profile/perf_counters.h"
#include "harness/profile/summary.h"
#include "harness/worker/metric_names.h"
#include "harness/worker/samples.h"

namespace apo {
namespace {

constexpr int kCudaWarmupCalls = 64;
constexpr int kCudaTimedCalls = 60;
constexpr int kCudaRecordedCalls = 20;
constexpr double kCudaShortNs = 50e3;
// PC samples: some 10 ms of work, in which each SM is sampled every microsecond or so.
constexpr double kSampledNs = 20e6;
constexpr int kMostSampledCalls = 100;
constexpr int kSamplingPeriodLog2 = 11;
constexpr std::size_t kMostSampleRows = 4000;  // the rest are a few samples each

// One configuration loaded in a fresh process on the first `threads` CPUs.
class Bench {
 public:
  Bench(const Lab& lab, const Build& build, const Configuration& configuration, const Workload& workload,
        const InputSet& inputs, int threads)
      : target_(lab.worker.target),
        arena_(arena_spec(*lab.family, workload.axes, 1, lab.scratch(configuration, workload.axes), {}, secret_seed(),
                          lab.worker.target)),
        worker_(options(lab, threads)) {
    write_inputs(arena_, 0, inputs);
    require(load_build(worker_, 0, build), configuration);
    require(worker_.attach(arena_), configuration);
  }

  // Nanoseconds of one call, each the mean of `repetitions` back to back.
  std::vector<double> time(int calls, CachePolicy cache, const Configuration& configuration, int repetitions = 1) {
    std::vector<double> ns;
    for (int done = 0; done < calls;) {
      RunRequest request;
      const int some = std::min(calls - done, 32);
      request.order.assign(static_cast<std::size_t>(some), 0);
      request.sets.assign(static_cast<std::size_t>(some), 0);
      request.cache = cache;
      request.repetitions = repetitions;
      const auto samples = worker_.run(request);
      require(samples, configuration);
      for (const RawSample& sample : *samples) {
        ns.push_back(elapsed_ns(sample, target_) / repetitions);
      }
      done += some;
    }
    return ns;
  }

  // Target cuda: nanoseconds of one call by CUPTI Activity. Empty where `missing` says why.
  std::vector<double> record(int calls, CachePolicy cache, const Configuration& configuration, int repetitions,
                             std::string& missing) {
    RunRequest request{.repetitions = repetitions, .cache = cache, .activity = true};
    request.order.assign(static_cast<std::size_t>(calls), 0);
    const auto samples = worker_.run(request);
    require(samples, configuration);
    missing = worker_.activity_missing();
    std::vector<double> ns;
    for (const RawSample& sample : *samples) {
      ns.push_back(static_cast<double>(sample.activity_ns) / repetitions);
    }
    return missing.empty() ? ns : std::vector<double>();
  }

  // Target cuda, untimed.
  Result<CounterReport> count(const std::vector<std::string>& metrics, CachePolicy cache) {
    return worker_.count({.metrics = metrics, .cache = cache});
  }
  Result<SampleReport> sample_stalls(int repetitions, CachePolicy cache) {
    return worker_.sample_stalls({.repetitions = repetitions, .cache = cache, .period_log2 = kSamplingPeriodLog2});
  }

  // Of all kernels, or of the one of that name.
  Result<InstructionReport> count_instructions(const std::string& kernel) {
    return worker_.count_instructions({.kernel = kernel});
  }

  int pid() const { return worker_.pid(); }

 private:
  static WorkerOptions options(const Lab& lab, int threads) {
    WorkerOptions options = lab.worker;
    options.cpus = usable_cpus();
    options.cpus.resize(static_cast<std::size_t>(std::min<int>(threads, static_cast<int>(options.cpus.size()))));
    options.layout_seed = secret_seed();
    return options;
  }

  template <class T>
  static void require(const Result<T>& result, const Configuration& configuration) {
    if (!result) {
      throw EnvironmentError("cannot profile " + configuration.label() + ": " +
                             std::string(to_string(result.failure().outcome)) + ", " + result.failure().evidence);
    }
  }

  Target target_;
  Arena arena_;
  Worker worker_;
};

// The time between the first kernel's begin and the last one's end, beside the events' which hold their own cost too.
void add_activity(Profile& profile, const std::vector<double>& ns) {
  const SampleSummary summary = summarise(ns);
  if (summary.count > 0) {
    profile.metrics.push_back({.name = "activity_time",
                               .value = summary.median,
                               .unit = "ns",
                               .lower = summary.lower,
                               .upper = summary.upper,
                               .samples = summary.count});
  }
}

// One configuration on a GPU, in fresh processes: the counters must not touch timed calls.
struct CudaSubject {
  const Lab& lab;
  const Build& build;
  const InputSet& inputs;
  const Configuration& configuration;
  const Workload& workload;
  CachePolicy cache;

  Bench bench() const { return {lab, build, configuration, workload, inputs, lab.threads}; }
};

// A kernel that faults or hangs under a profiler costs the profile only what that profiler would have told.
template <class Report>
Report or_missing(const Result<Report>& result) {
  return result ? *result
                : Report{.missing = std::string(to_string(result.failure().outcome)) + " under the profiler, " +
                                    result.failure().evidence};
}

// The same for a process that cannot be set up, say because the profiler of another one holds the memory.
template <class Report, class Ask>
Report ask_fresh_process(const CudaSubject& subject, Ask ask) {
  try {
    Bench bench = subject.bench();
    return or_missing<Report>(ask(bench));
  } catch (const EnvironmentError& error) {
    return {.missing = error.what()};
  }
}

CounterReport count(const CudaSubject& subject, const std::vector<std::string>& metrics) {
  return ask_fresh_process<CounterReport>(subject, [&](Bench& bench) { return bench.count(metrics, subject.cache); });
}

CounterReport count_chosen(const CudaSubject& subject, const CounterChoice& choice) {
  CounterReport report = count(subject, choice.metrics);
  if (!report.refused.empty()) {
    throw UserError("unknown metric '" + report.refused.front().metric + "'",
                    report.refused.front().why + "\nleave --metrics out for the default set, or take --full");
  }
  return report;
}

InstructionReport count_instructions_of(const CudaSubject& subject, const std::string& kernel) {
  return ask_fresh_process<InstructionReport>(subject, [&](Bench& bench) { return bench.count_instructions(kernel); });
}

// Where CUPTI does not count all kernels of a call in one process, each gets its own.
InstructionReport count_instructions(const CudaSubject& subject) {
  constexpr std::size_t kMostProcesses = 8;
  InstructionReport whole = count_instructions_of(subject, "");
  std::vector<std::string> launched;
  for (const KernelLaunch& one : subject.build.plan.launches) {
    launched.push_back(one.kernel);
  }
  const std::vector<std::string> kernels = each_once(launched);
  const bool attempted = !whole.attempts.empty() || whole.kernels.empty();  // no kernels: its process did not survive
  if (whole.missing.empty() || !attempted || kernels.size() < 2 || kernels.size() > kMostProcesses) {
    return whole;
  }
  InstructionReport all{.kernels = launched};
  for (const std::string& kernel : kernels) {
    InstructionReport one = count_instructions_of(subject, kernel);
    if (!one.missing.empty()) {
      whole.missing += "; " + kernel + " in a process of its own: " + one.missing;
      return whole;
    }
    all.instructions.insert(all.instructions.end(), std::make_move_iterator(one.instructions.begin()),
                            std::make_move_iterator(one.instructions.end()));
  }
  return all;
}

std::string conditions_of(const CounterReport& report, CachePolicy cache) {
  std::string text =
      caches_text(cache) + ": " +
      (cache == CachePolicy::cold ? "L2 flushed by a fill, whose dirty lines count as writes once they are evicted"
                                  : "filled by a call before") +
      ", then " + std::to_string(report.passes) + (report.passes == 1 ? " pass" : " passes");
  text += report.passes > 1 ? ", each launch repeated with its memory restored in between, which warms the L2" : "";
  return report.clamped.empty() ? text : text + "; cut at 100 %, from several passes: " + join(report.clamped, ", ");
}

void add_missing(Profile& profile, const std::string& what, const std::string& why) {
  if (!why.empty()) {
    profile.missing += (profile.missing.empty() ? "" : "; ") + what + ": " + why;
  }
}

void append(std::vector<Metric>& metrics, std::vector<Metric> more) {
  metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The rungs above the times: where the warps stood, then what the units counted.
void add_counters(Profile& profile, const CudaSubject& subject, const CounterChoice& choice,
                  std::optional<CounterReport> counted, const std::string& source) {
  const int calls = static_cast<int>(std::clamp(kSampledNs / profile.time_ns, 1.0, double{kMostSampledCalls}));
  const auto sampled =
      ask_fresh_process<SampleReport>(subject, [&](Bench& bench) { return bench.sample_stalls(calls, subject.cache); });
  if (!counted) {
    std::vector<std::string> metrics = choice.full ? full_counters() : default_counters();
    if (!choice.full && sampled.samples.empty()) {
      metrics.insert(metrics.end(), stall_counters().begin(), stall_counters().end());  // in place of the samples
    }
    counted = count(subject, metrics);
  }
  if (!sampled.samples.empty()) {
    append(profile.metrics, stall_metrics(sampled.samples));
    set_samples(profile, sampled.samples, kMostSampleRows, source);
  }
  const auto instructions = choice.metrics.empty() ? count_instructions(subject) : InstructionReport();
  append(profile.metrics, instruction_metrics(instructions, subject.lab.family->work(subject.workload.axes)));
  profile.counts = line_counts(instructions);
  if (counted->missing.empty()) {
    const std::vector<Metric> counters = counter_metrics(*counted, 1);
    append(profile.metrics, counters);
    append(profile.metrics, sampled.samples.empty() ? stall_metrics(counters) : std::vector<Metric>());
    append(profile.metrics, derived_metrics(profile, subject.lab.family->work(subject.workload.axes)));
    profile.conditions = conditions_of(*counted, subject.cache);
    profile.rung = sampled.samples.empty() ? "counters" : "counters+pc";
  } else if (!sampled.samples.empty()) {
    profile.rung += "+pc";
  }
  add_missing(profile, "counters", counted->missing);
  add_missing(profile, "PC samples", sampled.missing);
  add_missing(profile, "counts of instructions", instructions.missing);
}

// Times from events and CUPTI Activity, in a process of their own.
Profile time_on_cuda(const CudaSubject& subject, const Machine& machine, ProfileInputs measured) {
  Bench bench = subject.bench();
  const CachePolicy cache = subject.cache;
  const double first_ns = bench.time(kCudaWarmupCalls, cache, measured.configuration).back();
  // As in a round of the judge: the events' own time is shared among the calls of a sample.
  const int repetitions = first_ns < kCudaShortNs ? static_cast<int>(std::ceil(2 * kCudaShortNs / first_ns)) : 1;
  measured.times.push_back(
      {.threads = 1, .ns = bench.time(kCudaTimedCalls, cache, measured.configuration, repetitions)});
  measured.l2_bytes = cache == CachePolicy::warm ? machine.l2_bytes : 0;  // cold: everything comes from memory
  measured.l3_bytes = 0;
  std::string missing;
  const std::vector<double> recorded =
      bench.record(kCudaRecordedCalls, cache, measured.configuration, repetitions, missing);
  measured.rung = recorded.empty() ? "events" : "activity";
  Profile profile = assemble_profile(measured);
  profile.conditions = caches_text(cache);
  add_missing(profile, "Activity records", missing);
  add_activity(profile, recorded);
  append(profile.metrics, occupancy_metrics(subject.build, machine));
  return profile;
}

Profile profile_on_cuda(const CudaSubject& subject, const Machine& machine, ProfileInputs measured,
                        const CounterChoice& choice, const std::string& source) {
  std::optional<CounterReport> counted;
  if (!choice.metrics.empty()) {
    counted = count_chosen(subject, choice);  // first: a name that is none should not cost the time of the rest
  }
  Profile profile = time_on_cuda(subject, machine, std::move(measured));
  add_counters(profile, subject, choice, std::move(counted), source);
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
  const Build build = lab.build(configuration, workload.axes, false);
  if (build.outcome != Outcome::valid) {
    throw EnvironmentError("cannot profile " + configuration.label() + ": it does not build", build.evidence);
  }
  const InputSet inputs =
      make_inputs(*lab.family, workload.axes, secret_seed(), lab.family->regimes.front(), lab.threads);
  ProfileInputs measured{.target = machine.target,
                         .configuration = configuration,
                         .workload = workload.name,
                         .work = lab.family->work(workload.axes),
                         .roofs = roofs,
                         .l2_bytes = machine.l2_bytes,
                         .l3_bytes = machine.l3_bytes};
  std::optional<DeviceTurns::Turn> turn;
  if (lab.turns != nullptr) {
    turn.emplace(lab.turns->take([&observer](const std::string& line) { observer.say(line); }));
  }
  if (machine.target == Target::cuda) {
    const CudaSubject subject{lab, build, inputs, configuration, workload, cache};
    return profile_on_cuda(subject, machine, std::move(measured), choice, lab.source(configuration));
  }
  Bench all(lab, build, configuration, workload, inputs, machine.cores);
  const double first_ns = all.time(3, cache, configuration).back();
  const ProfilePlan plan = plan_host_profile(machine.cores, first_ns, 2.0);
  for (const int threads : plan.thread_counts) {
    observer.progress({.what = "profile " + configuration.label() + " on " + std::to_string(threads) + " threads"});
    if (threads == machine.cores) {
      continue;  // last, in the worker that is there already
    }
    Bench bench(lab, build, configuration, workload, inputs, threads);
    bench.time(plan.warmup_calls, cache, configuration);
    measured.times.push_back({.threads = threads, .ns = bench.time(plan.timed_calls, cache, configuration)});
  }
  all.time(plan.warmup_calls, cache, configuration);
  measured.times.push_back({.threads = machine.cores, .ns = all.time(plan.timed_calls, cache, configuration)});
  PerfCounters counters(all.pid());
  counters.start();
  all.time(plan.counted_calls, CachePolicy::warm, configuration);
  counters.stop();
  measured.counters = counters.read();
  measured.counted_calls = plan.counted_calls;
  measured.rung = counters.rung();
  measured.missing = counters.missing();
  Profile profile = assemble_profile(measured);
  profile.conditions = caches_text(cache);
  return profile;
}

}  // namespace apo
