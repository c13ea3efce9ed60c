// harness/cli/command_options.cpp - options of commands to what is asked of them.
#include "harness/cli/command_options.h"

#include <CLI/CLI.hpp>

#include "harness/core/comparisons/command_metric.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/loop/policy.h"

namespace apo {
namespace {

constexpr const char* kExample = "for example: --command-a './old/bench' --command-b './new/bench' --metric seconds";

double duration_or_none(const std::string& option, const std::string& text) {
  return text.empty() ? 0 : checked_duration(option, text);
}

void check_whole(const CommandOptions& options) {
  const CommandQuestion& question = options.asked.commands;
  if (trim(options.asked.a).empty() || trim(options.asked.b).empty()) {
    throw UserError(std::string(options.asked.a.empty() ? "--command-a" : "--command-b") + " is missing", kExample);
  }
  if (question.metric.empty()) {
    throw UserError("--metric is missing", std::string("it says by which number the commands are judged; ") + kExample);
  }
  if (question.higher_is_better && options.lower_is_better) {
    throw UserError("--higher-is-better and --lower-is-better were both given", "choose one");
  }
  if (parse_metric(question.metric).is_time() && question.higher_is_better) {
    throw UserError("--higher-is-better does not fit metric '" + question.metric + "', which is a time",
                    "leave it out: less time is better");
  }
  static_cast<void>(asked_preset(question.judge));
}

}  // namespace

void add_command_options(CLI::App& app, CommandOptions& options, const std::vector<CLI::Option*>& others) {
  CLI::Option* const a = app.add_option("--command-a", options.asked.a, "command A, which a shell runs: the baseline");
  CLI::Option* const b = app.add_option("--command-b", options.asked.b, "command B, which is judged against it");
  CLI::Option* const target =
      app.add_option("--target", options.target,
                     "device they run on, for the record and for taking turns: auto (cuda for nvbench), host or cuda");
  const std::vector<CLI::Option*> mine = {
      a,
      b,
      app.add_option("--metric", options.asked.commands.metric,
                     "number to judge by: seconds (wall time), json:PATH, regex:'...' (on stdout), or of a benchmark "
                     "program gbench, nvbench, hyperfine, pytest-benchmark or lines (NAME VALUE UNIT), each with "
                     ":NAME for one benchmark"),
      app.add_option(
          "--correct", options.asked.commands.correct,
          "command that checks the first run of each and half of the timed ones, drawn by lot: it reads what "
          "the run printed, and finds what it wrote in $APO_OUTPUT; has to exit with 0"),
      app.add_option(
             "--runs", options.asked.commands.runs,
             "fresh runs of each command in a round, of which the best counts: more on a busy machine (default: 1)")
          ->check(CLI::Range(1, 100)),
      app.add_option("--timeout", options.timeout,
                     "longest run of a command (default: 10m for the first, then 10s + 20 times what it took)"),
      app.add_option("--budget", options.budget, "stop the rounds without a verdict after this time (default: none)"),
      app.add_flag("--higher-is-better", options.asked.commands.higher_is_better, "of the metric json, regex or lines"),
      app.add_flag("--lower-is-better", options.lower_is_better, "of the metric (the default)")};
  for (CLI::Option* const other : others) {
    if (!other->get_positional()) {
      other->group("Options for two variants");
      target->excludes(other);
    }
    for (CLI::Option* const one : mine) {
      one->excludes(other);
    }
  }
  target->group("Options for two commands");
  for (CLI::Option* const one : mine) {
    one->group("Options for two commands");
    if (one != a && one != b) {
      one->needs(a);
    }
  }
}

ProgramComparison asked_of(const CommandOptions& options, ComparisonPurpose purpose, const std::string& judge,
                           const std::string& layout) {
  CommandOptions whole = options;
  whole.asked.purpose = purpose;
  whole.asked.commands.judge = judge;
  whole.asked.commands.layout = checked_layout(layout);
  whole.asked.commands.timeout_s = duration_or_none("--timeout", options.timeout);
  whole.asked.commands.budget_s = duration_or_none("--budget", options.budget);
  check_whole(whole);
  return whole.asked;
}

}  // namespace apo
