// harness/evaluate/programs/command_runner.cpp - runs a shell with a deadline and a padded environment, reads the
// metric, and checks what was printed.
#include "harness/evaluate/programs/command_runner.h"

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
#include "harness/core/system/machine.h"
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
constexpr double kLeastCheckTimeoutS = 600;

// For the input of a shell, so that no list of processes and no file holds the text. The shell has read all of it, and
// the end of its input, before the command begins, whose own input is empty.
std::string script_of(const std::string& text) {
  return "{ exec </dev/null\n" + text + "\n\n}\n";
}

bool says_out_of_memory(const std::string& printed) {
  for (const char* words :
       {"out of memory", "bad_alloc", "OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "Out of memory", "MemoryError"}) {
    if (printed.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// The signal that ended the program or, by the word of its shell (128 and the signal), its command; 0: none.
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

Failure blamed(Failure failure, Side side) {
  failure.slot = static_cast<int>(side);
  return failure;
}

}  // namespace

std::string and_printed(const ProcessResult& run) {
  const std::string end = printable_tail(trim(run.error).empty() ? run.output : run.error, kShownOutput);
  return end.empty() ? "" : "; it printed: " + end;
}

std::optional<Failure> bad_end(const ProcessResult& run, double timeout_s) {
  if (run.ok()) {
    return std::nullopt;
  }
  // A SIGKILL that this program did not send is most likely the system's out-of-memory killer.
  const bool memory = ended_by_signal(run) == SIGKILL || says_out_of_memory(run.printed());
  return Failure{.outcome = run.timed_out ? Outcome::timed_out
                            : memory      ? Outcome::out_of_memory
                                          : Outcome::faulted,
                 .evidence = how_it_ended(run, timeout_s)};
}

std::string drawn_padding(std::uint64_t seed) {
  Random random(derive_seed(seed, "environment"));
  return "APO_PADDING=" + std::string(random.below(kMostPadding), 'x');
}

CommandRunner::CommandRunner(const ProgramComparison& asked, double timeout_s, std::uint64_t seed, std::string name)
    : commands_{asked.a, asked.b},
      folder_(asked.folder),
      question_(asked.commands),
      metric_(parse_metric(asked.commands.metric)),
      suite_(is_suite(asked)),
      timeout_s_(timeout_s),
      seed_(seed),
      name_(std::move(name)) {}

CommandRunner::Run CommandRunner::execute(Side side, std::uint64_t padding_seed, const WantedBenchmarks& wanted) const {
  Run run{.folder = TemporaryFolder("apo-command"), .environment = {}, .process = {}};
  const std::filesystem::path output = run.folder.path() / kOutputFolder;
  std::filesystem::create_directory(output);
  run.environment = {"APO_OUTPUT=" + output.string()};
  if (question_.layout == Layout::random) {
    run.environment.push_back(drawn_padding(padding_seed));
  }
  const std::string text = shell_command(metric_, command(side), run.folder.path() / kResultFile,
                                         wanted.select ? wanted.names : std::vector<std::string>{});
  run.process = run_process({"sh"}, {.timeout_s = timeout_s_,
                                     .working_folder = folder_,
                                     .environment = run.environment,
                                     .input = script_of(text),
                                     .output_limit = kMostOutput,
                                     .until_last = true});
  return run;
}

Result<std::vector<Reading>> CommandRunner::readings_of(const Run& run) const {
  if (auto failure = bad_end(run.process, timeout_s_)) {
    return *failure;
  }
  const std::filesystem::path file = run.folder.path() / kResultFile;
  const std::string text = std::filesystem::is_regular_file(file) ? read_file(file) : "";
  if (suite_) {
    return read_suite(metric_, run.process, text);
  }
  const auto value = read_metric(metric_, run.process, text);
  return value ? Result<std::vector<Reading>>(std::vector<Reading>{{.value = *value}}) : value.failure();
}

Result<CommandRun> CommandRunner::values_of(const Run& run, const WantedBenchmarks& wanted) const {
  const auto readings = readings_of(run);
  if (!readings) {
    return readings.failure();
  }
  CommandRun found{.value = suite_ ? 0 : readings->front().value};
  for (const std::string& name : wanted.names) {
    const auto reading = std::ranges::find(*readings, name, &Reading::name);
    if (reading == readings->end() || !reading->is_usable()) {
      return Failure{.outcome = Outcome::no_metric,
                     .evidence = fmt::format("benchmark '{}' {}", name,
                                             reading == readings->end() ? "was not run any more"
                                             : reading->problem.empty() ? "gave " + format_g(reading->value)
                                                                        : "failed: " + reading->problem)};
    }
    found.values.push_back({name, reading->value});
  }
  found.value = suite_ ? geometric_mean(found.values) : found.value;
  return found;
}

std::optional<Failure> CommandRunner::check(Side side, const Run& run) const {
  if (question_.correct.empty()) {
    return std::nullopt;
  }
  if (run.process.cut) {
    return Failure{.outcome = Outcome::incorrect,
                   .evidence = "it printed too much to be checked; it may write to a file in $APO_OUTPUT"};
  }
  const double timeout_s = std::max(timeout_s_, kLeastCheckTimeoutS);
  // A check that runs the command itself gives it the same environment.
  const ProcessResult check =
      run_process({"sh", "-c", question_.correct, "sh", std::string(to_string(side)), command(side)},
                  {.timeout_s = timeout_s,
                   .working_folder = folder_,
                   .environment = run.environment,
                   .input = run.process.output,
                   .output_limit = kMostOutput,
                   .until_last = true});
  auto failure = bad_end(check, timeout_s);
  if (failure) {
    failure->outcome = check.timed_out ? Outcome::timed_out : Outcome::incorrect;
    failure->evidence = fmt::format("it fails the check '{}': {}", question_.correct, failure->evidence);
  }
  return failure;
}

Result<FirstRun> CommandRunner::try_once(Side side) const {
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  const Run run = execute(side, derive_seed(seed_, "trial", static_cast<std::uint64_t>(side)), {});
  const ProcessResult& process = run.process;
  if (!process.timed_out && process.signal == 0 &&
      (process.exit_code == kNotFound || process.exit_code == kNotExecutable)) {
    throw UserError(fmt::format("command {}, '{}', cannot be {}{}", side == Side::a ? "A" : "B", command(side),
                                process.exit_code == kNotFound ? "found" : "executed", and_printed(process)),
                    "commands are run by 'sh' in the working folder");
  }
  const auto readings = readings_of(run);
  if (!readings) {
    return blamed(readings.failure(), side);
  }
  if (auto failure = check(side, run)) {
    return blamed(*failure, side);
  }
  return FirstRun{.seconds = process.seconds, .readings = *readings};
}

Result<Round> CommandRunner::round(RoundStage stage, int index, const WantedBenchmarks& wanted) const {
  const auto start = std::chrono::steady_clock::now();
  const CpuTicks ticks = read_cpu_ticks();
  Round round{.stage = stage, .index = index, .seed = round_seed(seed_, name_, stage, index)};
  const RoundDraw draw = draw_round(round.seed, 0);
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  CommandRuns runs{.runs = {}, .higher_is_better = question_.higher_is_better};
  double checks_s = 0;
  for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(question_.runs); ++i) {
    const Side side = is_candidate_run(draw.candidate_in_slot0, i) ? Side::b : Side::a;
    const Run run = execute(side, derive_seed(draw.order_seed, "run", i), wanted);
    const auto values = values_of(run, wanted);
    if (!values) {
      return blamed(values.failure(), side);
    }
    const auto ended = std::chrono::steady_clock::now();
    if (Random(derive_seed(round.seed, "check", i)).coin()) {  // nobody knew before it had ended
      if (auto failure = check(side, run)) {
        return blamed(*failure, side);
      }
    }
    checks_s += seconds_since(ended);
    runs.runs.push_back({side == Side::b, values->value, values->values});
  }
  round.commands = std::move(runs);
  round.environment.layout = question_.layout;
  round.environment.steal_percent = steal_percent(ticks, read_cpu_ticks());
  round.seconds = seconds_since(start) - checks_s;
  return round;
}

}  // namespace apo
