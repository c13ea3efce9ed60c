// harness/evaluate/commands/command_runner.cpp - runs `sh -c` with a deadline and a padded environment, and reads the
// metric.
#include "harness/evaluate/commands/command_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
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
  return (run.timed_out ? "it had not ended after " + format_seconds(timeout_s)
          : signal != 0 ? "it was ended by " + signal_name(signal)
                        : fmt::format("it exited with {}", run.exit_code)) +
         and_printed(run);
}

std::string drawn_padding(std::uint64_t seed) {
  Random random(derive_seed(seed, "environment"));
  return "APO_PADDING=" + std::string(random.below(kMostPadding), 'x');
}

CommandRunner::CommandRunner(CommandPair pair, RoundCoins coins) : pair_(std::move(pair)), coins_(std::move(coins)) {}

ProcessResult CommandRunner::execute(Side side, std::uint64_t padding_seed, std::string& file_text) const {
  std::optional<TemporaryFolder> scratch;
  std::filesystem::path file;
  if (pair_.metric.kind == MetricKind::nvbench) {
    file = scratch.emplace("apo-command").path() / "result.json";
  }
  const ProcessResult run =
      run_process({"sh", "-c", shell_command(pair_.metric, pair_.commands[static_cast<std::size_t>(side)], file)},
                  {.timeout_s = pair_.timeout_s,
                   .working_folder = pair_.folder,
                   .environment = pair_.layout == Layout::random ? std::vector{drawn_padding(padding_seed)}
                                                                 : std::vector<std::string>(),
                   .output_limit = kMostOutput});
  file_text = scratch && std::filesystem::is_regular_file(file) ? read_file(file) : "";
  return run;
}

Result<double> CommandRunner::value_of(Side side, const ProcessResult& run, const std::string& file_text) const {
  if (!run.ok()) {
    return failed(run, pair_.timeout_s, side);
  }
  auto value = read_metric(pair_.metric, run, file_text);
  if (!value) {
    Failure failure = value.failure();
    failure.slot = static_cast<int>(side);
    return failure;
  }
  return value;
}

Result<double> CommandRunner::try_once(Side side) const {
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  std::string file_text;
  const ProcessResult run =
      execute(side, derive_seed(coins_.campaign_seed, "trial", static_cast<std::uint64_t>(side)), file_text);
  if (!run.timed_out && run.signal == 0 && (run.exit_code == kNotFound || run.exit_code == kNotExecutable)) {
    throw UserError(fmt::format("command {}, '{}', cannot be {}{}", side == Side::a ? "A" : "B",
                                pair_.commands[static_cast<std::size_t>(side)],
                                run.exit_code == kNotFound ? "found" : "executed", and_printed(run)),
                    "commands run by 'sh -c' in the working folder");
  }
  return value_of(side, run, file_text);
}

Result<Round> CommandRunner::round(RoundStage stage, int index) const {
  const auto start = std::chrono::steady_clock::now();
  const CpuTicks ticks = read_cpu_ticks();
  Round round{
      .stage = stage, .index = index, .seed = round_seed(coins_.campaign_seed, coins_.comparison, stage, index)};
  const RoundDraw draw = draw_round(round.seed, 0);
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  CommandRuns runs{.runs = {}, .higher_is_better = pair_.higher_is_better};
  for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(pair_.runs); ++i) {
    const Side side = is_candidate_run(draw.candidate_in_slot0, i) ? Side::b : Side::a;
    std::string file_text;
    const ProcessResult run = execute(side, derive_seed(draw.order_seed, "run", i), file_text);
    const auto value = value_of(side, run, file_text);
    if (!value) {
      return value.failure();
    }
    runs.runs.push_back({.candidate = side == Side::b, .value = *value});
  }
  round.commands = std::move(runs);
  round.environment.layout = pair_.layout;
  round.environment.steal_percent = steal_percent(ticks, read_cpu_ticks());
  round.seconds = seconds_since(start);
  return round;
}

Result<Done> CommandRunner::check(const std::string& check, Side side) const {
  const ProcessResult run = run_process(
      {"sh", "-c", check}, {.timeout_s = pair_.timeout_s,
                            .working_folder = pair_.folder,
                            .environment = {"APO_SIDE=" + std::string(to_string(side)),
                                            "APO_COMMAND=" + pair_.commands[static_cast<std::size_t>(side)]},
                            .output_limit = kMostOutput});
  if (run.ok()) {
    return Done{};
  }
  Failure failure = failed(run, pair_.timeout_s, side);
  failure.outcome = run.timed_out ? Outcome::timed_out : Outcome::incorrect;
  return failure;
}

}  // namespace apo
