// harness/evaluate/commands/command_runner.cpp - runs a shell with a deadline and a padded environment, reads the
// metric, and checks what was printed.
#include "harness/evaluate/commands/command_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/worker/parent/evidence.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 20U;
constexpr std::size_t kShownOutput = 300;
constexpr std::uint64_t kMostPadding = 4096;
constexpr const char* kResultFile = "result.json";  // of NVBench
constexpr const char* kOutputFolder = "output";

// For the input of a shell, so that no list of processes and no file holds the text. The shell has read all of it, and
// the end of its input, before the command begins, whose own input is empty.
std::string script_of(const std::string& text) {
  return "{ exec </dev/null\n" + text + "\n\n}\n";
}

Failure failed(const ProcessResult& run, double timeout_s, Side side) {
  Failure failure{.evidence = how_it_ended(run, timeout_s), .slot = static_cast<int>(side)};
  failure.outcome = run.timed_out ? Outcome::timed_out : failure.outcome;
  return failure;
}

}  // namespace

std::string and_printed(const ProcessResult& run) {
  const std::string end = printable_tail(trim(run.error).empty() ? run.output : run.error, kShownOutput);
  return end.empty() ? "" : "; it printed: " + end;
}

int ended_by_signal(const ProcessResult& run) {
  constexpr int kOfShell = 128;
  const bool by_shell = run.signal == 0 && run.exit_code > kOfShell && run.exit_code < kOfShell + SIGRTMIN;
  return by_shell ? run.exit_code - kOfShell : run.signal;
}

std::string how_it_ended(const ProcessResult& run, double timeout_s) {
  const int signal = ended_by_signal(run);
  return (run.timed_out && run.left_behind > 0
              ? fmt::format("it ended, and {} {} that it started still ran after {}", run.left_behind,
                            run.left_behind == 1 ? "process" : "processes", format_seconds(timeout_s))
          : run.timed_out ? "it had not ended after " + format_seconds(timeout_s)
          : signal != 0   ? "it was ended by " + signal_name(signal)
                          : fmt::format("it exited with {}", run.exit_code)) +
         and_printed(run);
}

std::string drawn_padding(std::uint64_t seed) {
  Random random(derive_seed(seed, "environment"));
  return "APO_PADDING=" + std::string(random.below(kMostPadding), 'x');
}

CommandRunner::CommandRunner(CommandPair pair, RoundCoins coins) : pair_(std::move(pair)), coins_(std::move(coins)) {}

CommandRunner::Run CommandRunner::execute(Side side, std::uint64_t padding_seed, const WantedBenchmarks& wanted) const {
  Run run{.folder = TemporaryFolder("apo-command"), .environment = {}, .process = {}};
  const std::filesystem::path output = run.folder.path() / kOutputFolder;
  std::filesystem::create_directory(output);
  run.environment = {"APO_OUTPUT=" + output.string()};
  if (pair_.layout == Layout::random) {
    run.environment.push_back(drawn_padding(padding_seed));
  }
  const std::string& command = pair_.commands[static_cast<std::size_t>(side)];
  const std::string text = shell_command(pair_.metric, command, run.folder.path() / kResultFile,
                                         wanted.select ? wanted.names : std::vector<std::string>{});
  run.process = run_process({"sh"}, {.timeout_s = pair_.timeout_s,
                                     .working_folder = pair_.folder,
                                     .environment = run.environment,
                                     .input = script_of(text),
                                     .output_limit = kMostOutput,
                                     .until_last = true});
  return run;
}

// `read` takes the metric, the process and the text of the file that it wrote.
template <class Value, class Read>
Result<Value> CommandRunner::read(Side side, const Run& run, const Read& read) const {
  if (!run.process.ok()) {
    return failed(run.process, pair_.timeout_s, side);
  }
  const std::filesystem::path file = run.folder.path() / kResultFile;
  Result<Value> value = read(pair_.metric, run.process, std::filesystem::is_regular_file(file) ? read_file(file) : "");
  if (!value) {
    Failure failure = value.failure();
    failure.slot = static_cast<int>(side);
    return failure;
  }
  return value;
}

Result<std::vector<Reading>> CommandRunner::readings_of(Side side, const Run& run) const {
  return read<std::vector<Reading>>(side, run, read_suite);
}

Result<CommandRun> CommandRunner::values_of(Side side, const Run& run, const WantedBenchmarks& wanted) const {
  CommandRun found{.candidate = side == Side::b};
  if (wanted.names.empty()) {
    const auto value = read<double>(side, run, read_metric);
    found.value = value ? *value : 0;
    return value ? Result<CommandRun>(found) : value.failure();
  }
  const auto readings = readings_of(side, run);
  if (!readings) {
    return readings.failure();
  }
  for (const std::string& name : wanted.names) {
    const auto reading = std::ranges::find(*readings, name, &Reading::name);
    const bool there = reading != readings->end() && reading->problem.empty();
    if (!there || !(std::isfinite(reading->value) && reading->value > 0)) {
      return Failure{.outcome = Outcome::no_metric,
                     .evidence = fmt::format("benchmark '{}' {}", name,
                                             reading == readings->end() ? "was not run any more"
                                             : there                    ? "gave " + format_g(reading->value)
                                                                        : "failed: " + reading->problem),
                     .slot = static_cast<int>(side)};
    }
    found.values.push_back({name, reading->value});
  }
  found.value = geometric_mean(found.values);
  return found;
}

std::optional<Failure> CommandRunner::check(Side side, const Run& run) const {
  if (pair_.check.empty()) {
    return std::nullopt;
  }
  if (run.process.cut) {
    return Failure{.outcome = Outcome::incorrect,
                   .evidence = "it printed too much to be checked; it may write to a file in $APO_OUTPUT",
                   .slot = static_cast<int>(side)};
  }
  // A check that runs the command itself gives it the same environment.
  const ProcessResult check = run_process(
      {"sh", "-c", pair_.check, "sh", std::string(to_string(side)), pair_.commands[static_cast<std::size_t>(side)]},
      {.timeout_s = pair_.check_timeout_s,
       .working_folder = pair_.folder,
       .environment = run.environment,
       .input = run.process.output,
       .output_limit = kMostOutput,
       .until_last = true});
  if (check.ok()) {
    return std::nullopt;
  }
  Failure failure = failed(check, pair_.check_timeout_s, side);
  failure.outcome = check.timed_out ? Outcome::timed_out : Outcome::incorrect;
  failure.evidence = fmt::format("it fails the check '{}': {}", pair_.check, failure.evidence);
  return failure;
}

Result<FirstRun> CommandRunner::try_once(Side side) const {
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  const Run run = execute(side, derive_seed(coins_.campaign_seed, "trial", static_cast<std::uint64_t>(side)), {});
  const ProcessResult& process = run.process;
  if (!process.timed_out && process.signal == 0 &&
      (process.exit_code == kNotFound || process.exit_code == kNotExecutable)) {
    throw UserError(fmt::format("command {}, '{}', cannot be {}{}", side == Side::a ? "A" : "B",
                                pair_.commands[static_cast<std::size_t>(side)],
                                process.exit_code == kNotFound ? "found" : "executed", and_printed(process)),
                    "commands are run by 'sh' in the working folder");
  }
  FirstRun trial{.seconds = process.seconds};
  if (pair_.suite) {
    const auto readings = readings_of(side, run);
    if (!readings) {
      return readings.failure();
    }
    trial.readings = *readings;
  } else if (const auto value = values_of(side, run, {}); !value) {
    return value.failure();
  }
  if (auto failure = check(side, run)) {
    return *failure;
  }
  return trial;
}

Result<Round> CommandRunner::round(RoundStage stage, int index, const WantedBenchmarks& wanted) const {
  const auto start = std::chrono::steady_clock::now();
  const CpuTicks ticks = read_cpu_ticks();
  Round round{
      .stage = stage, .index = index, .seed = round_seed(coins_.campaign_seed, coins_.comparison, stage, index)};
  const RoundDraw draw = draw_round(round.seed, 0);
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  CommandRuns runs{.runs = {}, .higher_is_better = pair_.higher_is_better};
  double checks_s = 0;
  for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(pair_.runs); ++i) {
    const Side side = is_candidate_run(draw.candidate_in_slot0, i) ? Side::b : Side::a;
    const Run run = execute(side, derive_seed(draw.order_seed, "run", i), wanted);
    const auto values = values_of(side, run, wanted);
    if (!values) {
      return values.failure();
    }
    const auto ended = std::chrono::steady_clock::now();
    if (Random(derive_seed(round.seed, "check", i)).coin()) {  // nobody knew before it had ended
      if (auto failure = check(side, run)) {
        return *failure;
      }
    }
    checks_s += seconds_since(ended);
    runs.runs.push_back(*values);
  }
  round.commands = std::move(runs);
  round.environment.layout = pair_.layout;
  round.environment.steal_percent = steal_percent(ticks, read_cpu_ticks());
  round.seconds = seconds_since(start) - checks_s;
  return round;
}

}  // namespace apo
