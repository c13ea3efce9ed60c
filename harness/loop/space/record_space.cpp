// harness/loop/space/record_space.cpp - one configuration after the other, and the file after each.
#include "harness/loop/space/record_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/builds_ahead.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/plan.h"
#include "harness/loop/space/kept_space.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

constexpr double kMsPerS = 1e3;
constexpr double kMsPerNs = 1e-6;
constexpr double kRoundS = 0.025;
constexpr double kWarmupS = 0.008;

// Lets through what an experiment says; its progress is that of one configuration of many.
class WithoutProgress : public Observer {
 public:
  explicit WithoutProgress(Observer& observer) : observer_(observer) {}
  void say(const std::string& line) override { observer_.say(line); }
  void progress(const Progress&) override {}

 private:
  Observer& observer_;
};

Invalidity invalidity_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::valid:
    case Outcome::no_change:
      return Invalidity::correct;
    case Outcome::refused:
    case Outcome::not_checkable:
      return Invalidity::constraints;
    case Outcome::build_failed:
    case Outcome::wrong_abi:
      return Invalidity::compile;
    case Outcome::incorrect:
    case Outcome::not_finite:
      return Invalidity::correctness;
    case Outcome::timed_out:
      return Invalidity::timeout;
    case Outcome::faulted:
    case Outcome::out_of_memory:
    case Outcome::unstable_clock:
    case Outcome::no_metric:
    case Outcome::left_processes:
      break;
  }
  return Invalidity::runtime;
}

double gate_ms(const Experiment& experiment, std::string_view name) {
  double seconds = 0;
  for (const GateResult& gate : experiment.gates) {
    seconds += gate.gate == name ? gate.seconds : 0;
  }
  return kMsPerS * seconds;
}

bool has_passed(const Experiment& experiment, std::string_view name) {
  return std::ranges::any_of(experiment.gates, [&](const GateResult& gate) {
    return gate.gate == name && gate.ran && gate.outcome == Outcome::valid;
  });
}

std::string reason_of(const Experiment& experiment) {
  const auto failed =
      std::ranges::find_if(experiment.gates, [](const GateResult& gate) { return gate.outcome != Outcome::valid; });
  return failed == experiment.gates.end() ? "" : one_line(failed->gate + ": " + failed->evidence);
}

// What stays the same for all configurations.
struct Recording {
  const Variant& variant;
  const Family& family;
  const Workload& workload;
  Runtime runtime;
  EvaluatePlan plan;
};

// As many rounds as give an interval. On a GPU short ones, all in one process and layout: starting processes and laying
// out tensors would take ten times as long as the calls.
EvaluatePlan short_plan(const Workload& workload, const SpaceRequest& request, Target target) {
  EvaluatePlan plan =
      make_plan({.workloads = {&workload}, .cache = request.cache, .judge_preset = std::string(kQuickPreset)});
  plan.sanitize = request.sanitize;
  plan.own_shapes_only = true;
  plan.time_same_code = true;  // two settings may make the same code: each has its time
  if (target == Target::cuda) {
    plan.preset.round_s = kRoundS;
    plan.preset.warmup_min_s = kWarmupS;
    plan.rounds.rounds_per_process = plan.rounds.rounds_per_layout = plan.preset.looks.back().rounds;
  }
  return plan;
}

Recording begin_recording(Workspace& workspace, const SpaceRequest& request) {
  const Variant& variant = workspace.catalogue().get(request.variant);
  workspace.use(variant.target);
  const Family& family = workspace.family(variant.family);
  const Workload& workload =
      request.workload.empty() ? first_workload(family, variant.target) : workspace.workload(family, request.workload);
  Recording recording = {.variant = variant,
                         .family = family,
                         .workload = workload,
                         .runtime = workspace.runtime(family),
                         .plan = short_plan(workload, request, variant.target)};
  if (variant.target == Target::cuda) {
    recording.runtime.worker_pool->share();
  }
  return recording;
}

Configuration configuration_of(const Recording& recording, const Settings& settings) {
  return {.variant = recording.variant.id(), .settings = stated_settings(recording.variant, settings)};
}

Experiment experiment_of(const Recording& recording, const Configuration& candidate, const Configuration& reference) {
  return {.index = 1,
          .family = recording.family.name,
          .workload_class = recording.workload.workload_class,
          .workloads = {recording.workload.name},
          .candidate = candidate,
          .incumbent = reference,
          .candidate_source_hash = recording.variant.source_hash,
          .incumbent_source_hash = recording.variant.source_hash,
          .techniques = techniques_of(recording.variant, candidate.settings),
          .started_at = utc_now()};
}

std::vector<BuildAhead> builds_of(const Recording& recording, const std::vector<Settings>& left) {
  std::vector<BuildAhead> builds;
  for (const Settings& settings : left) {
    builds.push_back({configuration_of(recording, settings), recording.workload.axes});
  }
  return builds;
}

// On a GPU two cores are left for the process that measures and the one that is measured.
int builders(const Recording& recording) {
  constexpr int kMeasuring = 2;
  const int threads = recording.runtime.threads;
  return std::max(1, recording.variant.target == Target::cuda ? threads - kMeasuring : threads);
}

// Against itself until there is a reference. A reference has to build, so that this one is tried by itself first.
Experiment judge(const Recording& recording, const Configuration& candidate, const T4Origin& origin,
                 const Workspace& workspace, Observer& observer) {
  const Configuration reference =
      origin.reference.empty() ? candidate : workspace.catalogue().configuration(origin.reference);
  Experiment experiment = experiment_of(recording, candidate, reference);
  if (origin.reference.empty()) {
    const Build build = recording.runtime.build(candidate, recording.workload.axes, false);
    if (build.outcome != Outcome::valid) {
      experiment.outcome = build.outcome;
      experiment.gates = {{.gate = "build", .outcome = build.outcome, .evidence = build.evidence}};
      return experiment;
    }
  }
  evaluate(recording.runtime, experiment, recording.plan, observer);
  return experiment;
}

// A positive number that JSON keeps to the last digit.
std::int64_t new_seed() {
  return static_cast<std::int64_t>(secret_seed() >> 1U) | 1;
}

T4Origin origin_of(const Recording& recording, const Workspace& workspace, CachePolicy cache) {
  return {.variant = recording.variant.id(),
          .source_hash = recording.variant.source_hash,
          .workload = recording.workload.name,
          .machine = workspace.machine().model,
          .cache = std::string(to_string(cache)),
          .reference = ""};
}

std::vector<Settings> left_of(const std::vector<Settings>& legal, const T4File& file) {
  std::set<T4Configuration> known;
  for (const T4Result& result : file.results) {
    known.insert(result.configuration);
  }
  std::vector<Settings> left;
  std::ranges::copy_if(legal, std::back_inserter(left),
                       [&](const Settings& settings) { return !known.contains(to_t4(settings)); });
  return left;
}

Progress progress_of(const Recording& recording, const T4Configuration& configuration, std::size_t legal,
                     std::size_t left, std::size_t done, double seconds) {
  return {.what = fmt::format("{} on {}: {}", recording.variant.id(), recording.workload.name, to_text(configuration)),
          .done = static_cast<int>(legal - left),
          .expected = static_cast<int>(legal),
          .seconds_left = done == 0 ? 0 : seconds / static_cast<double>(done) * static_cast<double>(left)};
}

std::vector<Settings> space_of(const Recording& recording, const Workspace& workspace) {
  const Variant& variant = recording.variant;
  if (variant.tunables.empty()) {
    throw UserError(variant.id() + " has neither tunables nor toggles, and so no space",
                    fmt::format("give its file lines such as '// apo:tune BLOCK 64,128' or '// apo:toggle NAME "
                                "technique', and use the names as macros; 'apo bench {}' times it as it is",
                                variant.id()));
  }
  std::vector<Settings> legal =
      legal_settings(variant, recording.family, recording.workload, workspace.device_symbols());
  if (legal.size() == 1) {
    throw UserError(fmt::format("{} has one configuration on {} and so no space: its apo:requires lines allow no other",
                                variant.id(), recording.workload.name),
                    fmt::format("name another --workload, or 'apo bench {}' times that one", variant.id()));
  }
  return legal;
}

std::string why_unmeasured(const Experiment& experiment) {
  const std::string reason = reason_of(experiment);
  return reason.empty() && experiment.judgement ? experiment.judgement->sentence : reason;
}

}  // namespace

T4Configuration to_t4(const Settings& settings) {
  return {settings.begin(), settings.end()};
}

bool is_measured(const Experiment& experiment) {
  if (experiment.outcome == Outcome::valid) {
    return has_effect(experiment) && experiment.judgement->candidate_ns > 0;
  }
  // A reference that failed while it was timed says nothing about the candidate.
  return is_lasting(experiment.outcome) &&
         (!experiment.judgement || experiment.judgement->reason == Reason::gate_failed);
}

T4Result result_of(const Experiment& experiment, const T4Configuration& configuration) {
  T4Result result{.timestamp = experiment.started_at,
                  .configuration = configuration,
                  .objectives = {"time"},
                  .times = {.compilation = gate_ms(experiment, "build"),
                            .benchmark = gate_ms(experiment, "timing"),
                            .framework = 0,
                            .search_algorithm = 0,
                            .validation = gate_ms(experiment, "correctness") + gate_ms(experiment, "sanitizers"),
                            .runtimes = {}},
                  .invalidity = invalidity_of(experiment.outcome),
                  .correctness = has_passed(experiment, "correctness") ? 1.0 : 0.0,
                  .measurements = {},
                  .reason = reason_of(experiment)};
  if (!experiment.judgement) {
    return result;
  }
  const Judgement& judgement = *experiment.judgement;
  result.times.framework = std::max(
      0.0, kMsPerS * judgement.seconds - result.times.compilation - result.times.benchmark - result.times.validation);
  for (const Round& round : experiment.rounds) {
    for (const RoundWorkload& one : round.workloads) {
      if (round.void_why.empty() && one.candidate_median_ns > 0) {
        result.times.runtimes.push_back(kMsPerNs * one.candidate_median_ns);
      }
    }
  }
  if (experiment.outcome == Outcome::valid) {
    result.measurements = {{.name = "time", .value = kMsPerNs * judgement.candidate_ns, .unit = "ms"},
                           {.name = "speedup", .value = judgement.speedup(), .unit = ""},
                           {.name = "speedup_lower", .value = judgement.speedup_lower(), .unit = ""},
                           {.name = "speedup_upper", .value = judgement.speedup_upper(), .unit = ""}};
  }
  return result;
}

LockFile only_recording_into(const std::filesystem::path& output) {
  check_writable(output);
  LockFile lock(output.string() + ".lock");
  if (!lock.try_lock({}) && lock.trouble().empty()) {
    throw UserError("another 'apo space' is recording into " + output.string(),
                    "wait for it, or name another file with --output");
  }
  return lock;  // a file system without locks gives none
}

RecordingSummary record_space(Workspace& workspace, const SpaceRequest& request, Observer& observer) {
  Recording recording = begin_recording(workspace, request);
  const std::vector<Settings> legal = space_of(recording, workspace);
  const LockFile lock = only_recording_into(request.output);
  RecordingSummary summary{
      .file = kept_space(request.output, origin_of(recording, workspace, request.cache), recording.variant, legal),
      .legal = legal.size()};
  std::int64_t& seed = summary.file.origin->seed;  // a resumed recording goes on with the same shapes
  seed = seed == 0 ? new_seed() : seed;
  recording.plan.seed = static_cast<std::uint64_t>(seed);
  const std::vector<Settings> left = left_of(legal, summary.file);
  BuildsAhead builds(recording.runtime, builds_of(recording, left), builders(recording));
  if (recording.variant.target == Target::host) {  // whose timing needs the cores
    observer.progress({.what = fmt::format("build {} configurations", left.size())});
    builds.wait();
  }
  WithoutProgress quiet(observer);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < left.size(); ++done) {
    const T4Configuration configuration = to_t4(left[done]);
    observer.progress(
        progress_of(recording, configuration, legal.size(), left.size() - done, done, seconds_since(start)));
    const Configuration candidate = configuration_of(recording, left[done]);
    const Experiment experiment = judge(recording, candidate, *summary.file.origin, workspace, quiet);
    if (!is_measured(experiment)) {
      summary.unmeasured.push_back(to_text(configuration) + ": " + why_unmeasured(experiment));
      observer.say("not measured: " + summary.unmeasured.back());
      continue;
    }
    const T4Result& result = summary.file.results.emplace_back(result_of(experiment, configuration));
    if (is_valid(result) && summary.file.origin->reference.empty()) {
      summary.file.origin->reference = candidate.label();
    } else if (!is_valid(result)) {
      observer.say(fmt::format("{}: {}, {}", to_text(configuration), to_string(result.invalidity), result.reason));
    }
    write_file_atomically(request.output, to_text(summary.file));
    ++summary.measured;
  }
  return summary;
}

}  // namespace apo
