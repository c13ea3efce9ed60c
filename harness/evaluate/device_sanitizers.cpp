// harness/evaluate/device_sanitizers.cpp - starts the tools, collects their logs, and decides.
#include "harness/evaluate/device_sanitizers.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/sanitizer_log.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// The tools make a call ten to a hundred times as long, and the first one loads their instrumentation.
constexpr std::chrono::milliseconds kDeadline{120'000};

struct ToolRun {
  std::string tool;
  CheckResult result;
  SanitizerLog log;
};

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
                                      "no",  // how a worker ends is for its parent to judge
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

ToolRun run_tool(const Lab& lab, const Configuration& configuration, const Build& build, const CheckCase& one,
                 std::uint64_t seed, const std::string& tool) {
  const TemporaryFolder folder("apo-sanitizer");
  const fs::path log = folder.path() / (tool + ".log");
  WorkerOptions options = lab.worker;
  options.watcher = command_of(lab.compute_sanitizer, tool, log);
  options.deadline = kDeadline;
  ToolRun run{.tool = tool};
  std::string failure;
  try {
    run.result = check_build(lab, configuration, build, one, seed, options);
  } catch (const EnvironmentError& error) {
    failure = error.what();  // said below, with what the tool says itself
  }
  run.log = read_sanitizer_log(tool, fs::exists(log) ? read_file(log) : "");
  if (!failure.empty()) {
    throw EnvironmentError("compute-sanitizer cannot watch a worker with " + tool + ": " +
                               (run.log.trouble.empty() ? failure : run.log.trouble + "; " + failure),
                           hint_for(lab.compute_sanitizer));
  }
  return run;
}

void require_report(const ToolRun& run, const std::string& program) {
  if (run.log.complete) {
    return;
  }
  const std::string why = run.log.trouble.empty() ? "its log has no summary" : run.log.trouble;
  const std::string call = run.result.outcome == Outcome::valid ? "" : "; the worker: " + run.result.evidence;
  throw EnvironmentError("compute-sanitizer --tool " + run.tool + " did not report: " + why + call, hint_for(program));
}

// The first tool that found something, or whose calls failed, decides.
void judge_runs(const std::vector<ToolRun>& runs, const Lab& lab, GateResult& gate) {
  for (const ToolRun& run : runs) {
    if (run.log.errors > 0) {
      gate.outcome = Outcome::incorrect;
      gate.evidence = run.tool + ": " + run.log.finding + " (" + std::to_string(run.log.errors) +
                      (run.log.errors == 1 ? " error)" : " errors)");
      return;
    }
  }
  for (const ToolRun& run : runs) {
    if (run.result.outcome == Outcome::timed_out) {
      gate.outcome = run.result.outcome;
      gate.evidence = "under " + run.tool + ": " + run.result.evidence;
      return;
    }
    require_report(run, lab.compute_sanitizer);
    if (run.result.outcome != Outcome::valid) {
      gate.outcome = run.result.outcome;
      gate.evidence = "under " + run.tool + ", which found nothing: " + run.result.evidence;
      return;
    }
  }
}

std::string clean_evidence(const std::vector<ToolRun>& runs, const CheckCase& one) {
  std::vector<std::string> names;
  std::int64_t warnings = 0;
  for (const ToolRun& run : runs) {
    names.push_back(run.tool);
    warnings += run.log.warnings;
  }
  return join(names, ", ") + " of compute-sanitizer found nothing in " + std::to_string(runs.front().result.calls) +
         " calls on " + one.workload +
         (warnings > 0 ? "; racecheck warns of " + std::to_string(warnings) + " hazards" : "");
}

}  // namespace

GateResult device_sanitizer_gate(const Lab& lab, const Configuration& configuration, const CheckCase& one,
                                 std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  GateResult gate{.gate = "sanitizers"};
  const Build build = lab.build(configuration, one.axes, true);
  if (build.outcome != Outcome::valid) {
    return {.gate = gate.gate, .outcome = build.outcome, .evidence = one.workload + ": " + build.evidence};
  }
  std::vector<std::future<ToolRun>> started;
  for (const std::string& tool : lab.device_sanitizers) {
    started.push_back(
        std::async(std::launch::async, [&, tool] { return run_tool(lab, configuration, build, one, seed, tool); }));
  }
  std::vector<ToolRun> runs;
  for (std::future<ToolRun>& one_run : started) {
    runs.push_back(one_run.get());
  }
  judge_runs(runs, lab, gate);
  if (gate.outcome == Outcome::valid) {
    gate.evidence = clean_evidence(runs, one);
  }
  gate.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return gate;
}

}  // namespace apo
