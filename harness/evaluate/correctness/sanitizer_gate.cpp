// harness/evaluate/correctness/sanitizer_gate.cpp - chooses the case and the sanitizers of this target.
#include "harness/evaluate/correctness/sanitizer_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/sanitizer_log.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// The tools make a call ten to a hundred times as long, and the first one loads their instrumentation.
constexpr std::chrono::milliseconds kDeadline{120'000};

std::vector<std::string> command_of(const std::string& program, const std::string& tool, const fs::path& log) {
  std::vector<std::string> command = {program,
                                      "--tool",
                                      tool,
                                      "--log-file",
                                      log.string(),
                                      "--target-processes",
                                      "application-only",
                                      "--launch-timeout",
                                      "60",
                                      "--kill",  // when the connection to the worker breaks: no report, no waiting
                                      "--check-exit-code",
                                      "no",  // the parent judges how a worker ends
                                      "--print-limit",
                                      "20",
                                      "--show-backtrace",
                                      "device"};
  if (tool == "memcheck") {
    // Behind every allocation lies memory that belongs to none, so that an access just past a tensor is not one to the
    // next tensor. The worker asks the driver things that may fail, and looks at what it answers itself.
    command.insert(command.end(), {"--padding", "4096", "--report-api-errors", "no"});
  }
  return command;
}

std::string hint_for(const std::string& program) {
  return "'" + program +
         "' has to know this GPU and driver: update or remove it; without it the gate says that it did " +
         "not run, and 'apo verify --no-sanitizers' leaves the gate out";
}

}  // namespace

// One that starts or waits. Its folder outlives the worker, which writes the log when it ends.
struct SanitizerTools::Tool {
  std::string name;
  std::unique_ptr<TemporaryFolder> folder = std::make_unique<TemporaryFolder>("apo-sanitizer");
  fs::path log;
  std::unique_ptr<Worker> worker;
  std::string failure;  // why there is none
};

struct SanitizerTools::ToolRun {
  std::string tool;
  CheckResult result = {};
  SanitizerLog log = {};
};

SanitizerTools::SanitizerTools(const Runtime& runtime, std::uint64_t seed) : runtime_(runtime), seed_(seed) {
  for (const std::string& name : runtime.device_sanitizers) {
    auto tool = std::make_unique<Tool>();
    tool->name = name;
    tool->log = tool->folder->path() / (name + ".log");
    WorkerOptions options = case_worker(runtime.worker, seed);
    options.watcher = command_of(runtime.compute_sanitizer, name, tool->log);
    options.deadline = kDeadline;
    options.await_start = false;
    try {
      tool->worker = std::make_unique<Worker>(std::move(options));
    } catch (const EnvironmentError& error) {
      tool->failure = error.what();  // reported when it is needed, with the tool's own message
    }
    tools_.push_back(std::move(tool));
  }
}

// Ends tools that were not needed: the gate was not reached.
SanitizerTools::~SanitizerTools() {
  for (const std::unique_ptr<Tool>& tool : tools_) {
    if (tool->worker != nullptr) {
      runtime_.worker_pool->end(std::move(tool->worker), std::move(tool->folder));
    }
  }
}

SanitizerTools::ToolRun SanitizerTools::watch(Tool& tool, const Configuration& configuration, const Build& build,
                                              const CheckCase& one, const std::vector<CheckedPointer>& inputs,
                                              GateSteps& steps) {
  ToolRun run{.tool = tool.name};
  std::string failure = tool.failure;
  if (tool.worker != nullptr) {
    try {
      {
        const GateSteps::Step step(steps, "start of " + tool.name);
        tool.worker->await_start();
      }
      {
        const GateSteps::Step step(steps, "calls under " + tool.name);
        GateSteps parts;
        run.result = check_in(*tool.worker, runtime_, configuration, build, one, inputs, seed_, parts);
      }
    } catch (const DeviceLost&) {
      throw;
    } catch (const EnvironmentError& error) {
      failure = error.what();
    }
    const GateSteps::Step step(steps, "report of " + tool.name);
    tool.worker.reset();
  }
  run.log = read_sanitizer_log(tool.name, fs::exists(tool.log) ? read_file(tool.log) : "");
  if (!failure.empty()) {
    throw EnvironmentError("compute-sanitizer cannot watch a worker with " + tool.name + ": " +
                               (run.log.trouble.empty() ? failure : run.log.trouble + "; " + failure),
                           hint_for(runtime_.compute_sanitizer));
  }
  return run;
}

void SanitizerTools::require_report(const ToolRun& run) const {
  if (run.log.complete) {
    return;
  }
  const std::string why = run.log.trouble.empty() ? "its log has no summary" : run.log.trouble;
  const std::string call = run.result.outcome == Outcome::valid ? "" : "; the worker: " + run.result.evidence;
  throw EnvironmentError("compute-sanitizer --tool " + run.tool + " did not report: " + why + call,
                         hint_for(runtime_.compute_sanitizer));
}

// The first tool that found something, or whose calls failed, decides.
void SanitizerTools::judge(const std::vector<ToolRun>& runs, GateResult& gate) const {
  for (const ToolRun& run : runs) {
    if (run.log.errors > 0) {
      gate.outcome = Outcome::incorrect;
      gate.evidence = fmt::format("{}: {} ({} {})", run.tool, run.log.finding, run.log.errors,
                                  run.log.errors == 1 ? "error" : "errors");
      return;
    }
  }
  for (const ToolRun& run : runs) {
    if (run.result.outcome == Outcome::timed_out) {
      gate.outcome = run.result.outcome;
      gate.evidence = "under " + run.tool + ": " + run.result.evidence;
      return;
    }
    require_report(run);
    if (run.result.outcome != Outcome::valid) {
      gate.outcome = run.result.outcome;
      gate.evidence = "under " + run.tool + ", which found nothing: " + run.result.evidence;
      gate.wrong = run.result.wrong;
      return;
    }
  }
}

GateResult SanitizerTools::run(const Configuration& configuration, const CheckCase& one) {
  GateSteps steps;
  GateResult gate{.gate = "sanitizers"};
  // What the tools watch is the build that is timed, and lies in the cache by now.
  const Build build = runtime_.build(configuration, one.axes, false);
  if (build.outcome != Outcome::valid) {
    return {.gate = gate.gate, .outcome = build.outcome, .evidence = one.workload + ": " + build.evidence};
  }
  const std::vector<CheckedPointer> inputs = case_inputs(runtime_, one, seed_);
  std::vector<std::future<ToolRun>> started;
  for (const std::unique_ptr<Tool>& tool : tools_) {
    started.push_back(std::async(
        std::launch::async, [&, &one_of = *tool] { return watch(one_of, configuration, build, one, inputs, steps); }));
  }
  std::vector<ToolRun> runs;
  for (std::future<ToolRun>& one_run : started) {
    runs.push_back(one_run.get());
  }
  judge(runs, gate);
  if (gate.outcome == Outcome::valid) {
    std::vector<std::string> names;
    std::int64_t warnings = 0;
    for (const ToolRun& run : runs) {
      names.push_back(run.tool);
      warnings += run.log.warnings;
    }
    gate.evidence = fmt::format("{} of compute-sanitizer found nothing in {} calls on {}", join(names, ", "),
                                runs.front().result.calls, one.workload);
    gate.evidence += warnings > 0 ? fmt::format("; racecheck warns of {} hazards", warnings) : "";
  }
  gate.seconds = steps.seconds();
  gate.steps = steps.list();
  return gate;
}

namespace {

// Sanitizers make a call ten times as long and more. nullptr when no ragged case is supported.
const CheckCase* smallest_ragged(const Runtime& runtime, const Configuration& configuration,
                                 const std::vector<CheckCase>& plan) {
  const CheckCase* smallest = nullptr;
  for (const CheckCase& one : plan) {
    const Workload* listed = find_workload(*runtime.family, one.workload);
    const bool ragged = listed != nullptr && listed->kind == WorkloadKind::ragged;
    const bool smaller =
        smallest == nullptr || tensor_bytes(*runtime.family, one.axes) < tensor_bytes(*runtime.family, smallest->axes);
    if (ragged && smaller && runtime.unsupported(configuration, one.axes).empty()) {
      smallest = &one;
    }
  }
  return smallest;
}

// Threads meet where there is work for all of them, which the smallest case may not have.
std::vector<CheckCase> cases_for_threads(const Runtime& runtime, const Configuration& configuration,
                                         const std::vector<CheckCase>& plan, const CheckCase& smallest) {
  constexpr std::int64_t kLargestBytes = std::int64_t{8} << 20;
  const CheckCase* largest = nullptr;
  const CheckCase* largest_ragged = nullptr;
  const auto bytes = [&](const CheckCase* one) { return tensor_bytes(*runtime.family, one->axes); };
  for (const CheckCase& one : plan) {
    if (bytes(&one) > kLargestBytes || !runtime.unsupported(configuration, one.axes).empty()) {
      continue;
    }
    const Workload* listed = find_workload(*runtime.family, one.workload);
    const bool ragged = listed != nullptr && listed->kind == WorkloadKind::ragged;
    largest = largest == nullptr || bytes(&one) > bytes(largest) ? &one : largest;
    if (ragged && (largest_ragged == nullptr || bytes(&one) > bytes(largest_ragged))) {
      largest_ragged = &one;
    }
  }
  std::vector<CheckCase> cases = {smallest};
  for (const CheckCase* one : {largest_ragged, largest}) {
    if (one != nullptr && std::ranges::none_of(cases, [&](const CheckCase& has) { return has.axes == one->axes; })) {
      cases.push_back(*one);
    }
  }
  for (CheckCase& one : cases) {
    one.regimes.resize(1);
  }
  return cases;
}

std::string why_not_here(const Runtime& runtime) {
  if (!guard_is_on(Guard::sanitizers)) {
    return "the guard is switched off";
  }
  if (runtime.worker.target == Target::cuda) {
    return runtime.compute_sanitizer.empty()
               ? "compute-sanitizer is not installed (package cuda-sanitizer-13-0, part of CUDA Toolkit 13)"
               : "";
  }
  return runtime.sanitizer_runtime.empty() ? "the compiler has no AddressSanitizer library" : "";
}

}  // namespace

SanitizerCheck::SanitizerCheck(const Runtime& runtime, const Configuration& configuration,
                               const std::vector<CheckCase>& plan, std::uint64_t seed)
    : runtime_(runtime),
      configuration_(configuration),
      seed_(derive_seed(seed, "sanitize")),
      not_run_(why_not_here(runtime)) {
  case_ = not_run_.empty() ? smallest_ragged(runtime, configuration, plan) : nullptr;
  if (not_run_.empty() && case_ == nullptr) {
    not_run_ = "no ragged workload is supported";
  }
  if (case_ != nullptr && runtime.build_for_threads) {
    threads_ = cases_for_threads(runtime, configuration, plan, *case_);
  }
  if (not_run_.empty() && runtime.worker.target == Target::cuda) {
    started_ = std::make_unique<SanitizerTools>(runtime, seed_);
  }
}

SanitizerCheck::~SanitizerCheck() = default;

GateResult SanitizerCheck::run() {
  GateResult gate{.gate = "sanitizers"};
  if (!not_run_.empty()) {
    gate.evidence = "not run: " + not_run_;
    return gate;
  }
  if (started_ != nullptr) {
    return started_->run(configuration_, *case_);
  }
  // Compiled beside the first sanitizers; the calls come after them.
  std::future<std::optional<Build>> watched;
  if (!threads_.empty()) {
    watched = std::async(std::launch::async,
                         [this] { return runtime_.build_for_threads(configuration_, threads_.front().axes); });
  }
  const CheckResult result = check_case(runtime_, configuration_, *case_, seed_, true);
  gate.outcome = result.outcome;
  gate.seconds = result.seconds;
  gate.wrong = result.wrong;
  gate.evidence = result.outcome == Outcome::valid
                      ? fmt::format("ASan and UBSan silent over {} calls on {}", result.calls, case_->workload)
                      : result.evidence;
  if (gate.outcome == Outcome::valid && watched.valid() && watched.get()) {
    watch_threads(gate);
  }
  return gate;
}

// A race and a wrong result refuse the variant; that the tool could not run, or was too slow, is said.
void SanitizerCheck::watch_threads(GateResult& gate) const {
  const std::string name = "ThreadSanitizer";
  WorkerOptions options = runtime_.worker;
  options.preload = runtime_.thread_sanitizer;
  options.deadline = std::max(options.deadline, kDeadline);
  std::string silent_on;
  for (const CheckCase& one : threads_) {
    const std::optional<Build> build = runtime_.build_for_threads(configuration_, one.axes);
    APO_CHECK(build);
    std::string why = build->outcome == Outcome::not_checkable
                          ? "it does not see how threads wait in " + build->evidence
                      : build->outcome != Outcome::valid ? build->evidence
                      : options.preload.empty()          ? "the compiler has none"
                                                         : "";
    if (why.empty()) {
      const CheckResult result = check_build(runtime_, configuration_, *build, one, seed_, options);
      gate.seconds += result.seconds;
      if (result.outcome == Outcome::incorrect || result.evidence.find("data race") != std::string::npos) {
        gate.outcome = Outcome::incorrect;
        gate.evidence = name + ": " + result.evidence;
        gate.wrong = result.wrong;
        return;
      }
      why = result.outcome == Outcome::valid ? "" : result.evidence;
    }
    if (!why.empty()) {
      gate.evidence += "; " + name + " not run: " + why;
      return;
    }
    silent_on += (silent_on.empty() ? "" : ", ") + one.workload;
  }
  gate.evidence += "; " + name + " silent on " + silent_on;
}

GateResult sanitizer_gate(const Runtime& runtime, const Configuration& configuration,
                          const std::vector<CheckCase>& plan, std::uint64_t seed) {
  return SanitizerCheck(runtime, configuration, plan, seed).run();
}

}  // namespace apo
