// harness/profile/gpu/measure_gpu.cpp - takes times first, then PC samples, then counters.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/profile/gpu/gpu_profile.h"
#include "harness/profile/gpu/occupancy.h"
#include "harness/profile/gpu/profile_processes.h"
#include "harness/worker/cupti/metric_names.h"

namespace apo {
namespace {

constexpr int kCudaWarmupCalls = 64;
constexpr int kCudaTimedCalls = 60;
// PC samples: some 10 ms of work, in which each SM is sampled every microsecond or so.
constexpr double kSampledNs = 20e6;
constexpr int kMostSampledCalls = 100;
constexpr int kSamplingPeriodLog2 = 11;
constexpr std::size_t kMostSampleRows = 4000;  // the rest are a few samples each

// A kernel that faults or hangs under a profiler costs the profile only what that profiler would have told.
template <class Report>
Report or_missing(const Result<Report>& result) {
  return result ? *result
                : Report{.missing = std::string(to_string(result.failure().outcome)) + " under the profiler, " +
                                    result.failure().evidence};
}

// A process for one profiler: how many others start beside its work, and whether it must be alone then.
struct ProfilerProcess {
  std::string purpose;
  int ahead = 0;
  bool alone = false;
};

// The same for a process that cannot be set up, say because the profiler of another one holds the memory.
template <class Report, class Ask>
Report ask_fresh_process(const CudaSubject& subject, ProfileProcesses& processes, const ProfilerProcess& process,
                         Ask ask) {
  try {
    CandidateProcess candidate = processes.next(subject, process.purpose, process.ahead);
    if (process.alone) {
      processes.await_quiet(process.purpose, true);
    }
    const StageRange range(process.purpose);
    Report report = or_missing<Report>(ask(candidate.worker()));
    processes.end(candidate);
    return report;
  } catch (const DeviceLost&) {
    throw;
  } catch (const EnvironmentError& error) {
    return {.missing = error.what()};
  }
}

// Memory and L2 are counted for the whole device, so that no other process may start or end meanwhile.
CounterReport count(const CudaSubject& subject, ProfileProcesses& processes, const std::vector<std::string>& metrics,
                    int ahead) {
  CounterReport report = ask_fresh_process<CounterReport>(
      subject, processes, {.purpose = "counters", .ahead = ahead, .alone = true},
      [&](Worker& worker) { return worker.count({.metrics = metrics, .cache = subject.cache}); });
  for (const CountingStep& step : report.steps) {
    tell_stage("counters, " + step.what, step.seconds);
  }
  return report;
}

CounterReport count_chosen(const CudaSubject& subject, ProfileProcesses& processes, const CounterChoice& choice) {
  CounterReport report = count(subject, processes, choice.metrics, 1);
  if (!report.refused.empty()) {
    throw UserError("unknown metric '" + report.refused.front().metric + "'",
                    report.refused.front().why + "\nleave --metrics out for the default set, or take --full");
  }
  return report;
}

InstructionReport count_instructions_of(const CudaSubject& subject, ProfileProcesses& processes,
                                        const std::string& kernel, int ahead) {
  const std::string purpose = "counts of instructions" + (kernel.empty() ? "" : " of " + kernel);
  return ask_fresh_process<InstructionReport>(
      subject, processes, {.purpose = purpose, .ahead = ahead},
      [&](Worker& worker) { return worker.count_instructions({.kernel = kernel}); });
}

// Where CUPTI does not count all kernels of a call in one process, each gets its own.
InstructionReport count_instructions(const CudaSubject& subject, ProfileProcesses& processes) {
  constexpr std::size_t kMostProcesses = 8;
  InstructionReport whole = count_instructions_of(subject, processes, "", 0);
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
    InstructionReport one = count_instructions_of(subject, processes, kernel, kernel != kernels.back() ? 1 : 0);
    if (!one.missing.empty()) {
      whole.missing += "; " + kernel + " in a process of its own: " + one.missing;
      return whole;
    }
    all.instructions.insert(all.instructions.end(), std::make_move_iterator(one.instructions.begin()),
                            std::make_move_iterator(one.instructions.end()));
  }
  return all;
}

std::string conditions_of(const CounterReport& report, const std::string& caches, CachePolicy cache) {
  const char* prepared = cache == CachePolicy::cold
                             ? "L2 flushed by a fill, whose dirty lines count as writes once they are evicted"
                             : "filled by a call before";
  std::string text =
      fmt::format("{}: {}, then {} {}", caches, prepared, report.passes, report.passes == 1 ? "pass" : "passes");
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

// Returns the kernel with the most samples; "" without samples.
std::string busiest_kernel(const std::vector<StallSample>& samples) {
  std::map<std::string, std::int64_t> counts;
  for (const StallSample& one : samples) {
    counts[one.kernel] += one.samples;
  }
  const auto most = std::ranges::max_element(counts, {}, &std::pair<const std::string, std::int64_t>::second);
  return most == counts.end() ? "" : most->first;
}

// The rungs above the times: where the warps stood, how the busiest of the kernels fills the GPU, then what the units
// counted.
void add_counters(Profile& profile, const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                  const CounterChoice& choice, std::optional<CounterReport> counted,
                  const std::vector<SourceFile>& sources) {
  const bool instructions_too = choice.metrics.empty();
  const int follow = (counted ? 0 : 1) + (instructions_too ? 1 : 0);
  const int calls = static_cast<int>(std::clamp(kSampledNs / profile.time_ns, 1.0, double{kMostSampledCalls}));
  const auto sampled = ask_fresh_process<SampleReport>(
      subject, processes, {.purpose = "PC samples", .ahead = follow}, [&](Worker& worker) {
        return worker.sample_stalls({.repetitions = calls, .cache = subject.cache, .period_log2 = kSamplingPeriodLog2});
      });
  if (!counted) {
    std::vector<std::string> metrics = choice.full ? full_counters() : default_counters();
    if (!choice.full && sampled.samples.empty()) {
      metrics.insert(metrics.end(), stall_counters().begin(), stall_counters().end());  // in place of the samples
    }
    counted = count(subject, processes, metrics, instructions_too ? 1 : 0);
  }
  append(profile.metrics, occupancy_metrics(subject.build, machine, busiest_kernel(sampled.samples)));
  if (!sampled.samples.empty()) {
    append(profile.metrics, stall_metrics(sampled.samples));
    set_samples(profile, sampled.samples, kMostSampleRows, sources);
  }
  const auto instructions = instructions_too ? count_instructions(subject, processes) : InstructionReport();
  append(profile.metrics, instruction_metrics(instructions, subject.runtime.family->work(subject.workload.axes)));
  profile.counts = line_counts(instructions);
  if (counted->missing.empty()) {
    const std::vector<Metric> counters = counter_metrics(*counted, 1);
    profile.launches = profiled_launches(*counted, sampled.samples);
    append(profile.metrics, counters);
    append(profile.metrics, sampled.samples.empty() ? stall_metrics(counters) : std::vector<Metric>());
    append(profile.metrics, derived_metrics(profile, subject.runtime.family->work(subject.workload.axes)));
    profile.conditions = conditions_of(*counted, profile.conditions, subject.cache);
    profile.rung = sampled.samples.empty() ? "counters" : "counters+pc";
  } else if (!sampled.samples.empty()) {
    profile.rung += "+pc";
  }
  add_missing(profile, "counters", counted->missing);
  add_missing(profile, "PC samples", sampled.missing);
  add_missing(profile, "counts of instructions", instructions.missing);
}

// Times from events, in a process of their own.
Profile time_on_cuda(const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                     ProfileInputs measured) {
  CandidateProcess candidate = processes.next(subject, "times", 1);
  processes.await_quiet("times", false);
  const CachePolicy cache = subject.cache;
  const StageRange range("times by events");
  const double first_ns = std::max(candidate.time(kCudaWarmupCalls, cache).back(), 1.0);
  const int repetitions = calls_in_sample(*subject.runtime.family, subject.workload.axes, first_ns, cache);
  measured.times.push_back({.threads = 1, .ns = candidate.time(kCudaTimedCalls, cache, repetitions)});
  measured.l2_bytes = cache == CachePolicy::warm ? machine.l2_bytes : 0;  // cold: everything comes from memory
  measured.l3_bytes = 0;
  processes.end(candidate);
  measured.rung = "events";
  return assemble_profile(measured);
}

}  // namespace

Profile profile_on_cuda(const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                        ProfileInputs measured, const CounterChoice& choice, const std::vector<SourceFile>& sources) {
  std::optional<CounterReport> counted;
  if (!choice.metrics.empty()) {
    // First: an invalid name should not cost the time of the rest.
    counted = count_chosen(subject, processes, choice);
  }
  Profile profile = time_on_cuda(subject, processes, machine, std::move(measured));
  add_counters(profile, subject, processes, machine, choice, std::move(counted), sources);
  return profile;
}

}  // namespace apo
