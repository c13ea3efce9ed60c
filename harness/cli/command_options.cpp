// harness/cli/command_options.cpp - options of commands to a request, and a comparison of commands to lines.
#include "harness/cli/command_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/core/commands/command_metric.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr const char* kExample = "for example: --command-a './old/bench' --command-b './new/bench' --metric seconds";

double duration_or_none(const std::string& option, const std::string& text) {
  return text.empty() ? 0 : checked_duration(option, text);
}

void check_whole(const CommandOptions& options) {
  if (trim(options.command_a).empty() || trim(options.command_b).empty()) {
    throw UserError(std::string(options.command_a.empty() ? "--command-a" : "--command-b") + " is missing", kExample);
  }
  if (options.metric.empty()) {
    throw UserError("--metric is missing", std::string("it says by which number the commands are judged; ") + kExample);
  }
  if (options.higher_is_better && options.lower_is_better) {
    throw UserError("--higher-is-better and --lower-is-better were both given", "choose one");
  }
}

std::string rounds_of_commands(const CommandComparison& comparison) {
  const CommandMetric metric = parse_metric(comparison.metric);
  std::vector<std::vector<std::string>> rows = {
      {"  stage", "round", "runs, in order", "effect", "time", "seed", "void"}};
  for (const Round& round : comparison.rounds) {
    const bool same = round.stage == RoundStage::sentinel;
    std::vector<std::string> runs;
    for (const CommandRun& run : round.commands->runs) {
      runs.push_back((run.candidate && !same ? "B " : "A ") + metric_value_text(metric, run.value));
    }
    rows.push_back({"  " + std::string(to_string(round.stage)), std::to_string(round.index), join(runs, ", "),
                    round.void_why.empty() ? format_percent(round.effect, 3) : "-", format_seconds(round.seconds),
                    std::to_string(round.seed), round.void_why});
  }
  return "\n" + paint("rounds", "bold") + "\n" + format_table(rows);
}

}  // namespace

void add_command_options(CLI::App& app, CommandOptions& options, const std::vector<CLI::Option*>& others) {
  CLI::Option* const a =
      app.add_option("--command-a", options.command_a, "command A, which 'sh -c' runs: the baseline");
  CLI::Option* const b = app.add_option("--command-b", options.command_b, "command B, which is judged against it");
  const std::vector<CLI::Option*> mine = {
      a,
      b,
      app.add_option("--metric", options.metric,
                     "number to judge by: seconds (wall time), json:PATH, regex:'...' (on stdout), gbench[:NAME] "
                     "or nvbench[:NAME]"),
      app.add_option("--correct", options.correct,
                     "command that checks each side once ($APO_SIDE is a or b, $APO_COMMAND the command); has to exit "
                     "with 0"),
      app.add_option(
             "--runs", options.runs,
             "fresh runs of each command in a round, of which the best counts: more on a busy machine (default: 1)")
          ->check(CLI::Range(1, 100)),
      app.add_option("--timeout", options.timeout,
                     "longest run of a command (default: 10m for the first, then 10s + 20 times what it took)"),
      app.add_option("--budget", options.budget, "stop the rounds without a verdict after this time (default: none)"),
      app.add_option("--target", options.target,
                     "device they run on, for the record and for taking turns: auto (cuda for nvbench), host or cuda"),
      app.add_flag("--higher-is-better", options.higher_is_better, "of the metric json or regex"),
      app.add_flag("--lower-is-better", options.lower_is_better, "of the metric (the default)")};
  for (CLI::Option* const other : others) {
    if (!other->get_positional()) {
      other->group("Options for two variants");
    }
    for (CLI::Option* const one : mine) {
      one->excludes(other);
    }
  }
  for (CLI::Option* const one : mine) {
    one->group("Options for two commands");
    if (one != a && one != b) {
      one->needs(a);
    }
  }
}

CommandRequest command_request(const CommandOptions& options, CommandPurpose purpose, const std::string& judge,
                               const std::string& layout) {
  check_whole(options);
  return {.asked = {.purpose = purpose,
                    .command_a = options.command_a,
                    .command_b = options.command_b,
                    .metric = options.metric,
                    .higher_is_better = options.higher_is_better,
                    .correct = options.correct,
                    .judge = judge,
                    .layout = checked_layout(layout),
                    .runs = options.runs,
                    .timeout_s = duration_or_none("--timeout", options.timeout),
                    .budget_s = duration_or_none("--budget", options.budget)},
          .target = asked_target(options.target)};
}

std::optional<std::int64_t> command_number(const std::string& word) {
  const bool digits =
      word.size() > 1 && word.front() == 'c' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  return digits ? parse_int(word.substr(1)) : std::nullopt;
}

std::string command_comparison_text(const CommandComparison& comparison) {
  const Judgement& judgement = *comparison.judgement;
  const CommandMetric metric = parse_metric(comparison.metric);
  std::string text;
  if (comparison.value_a > 0 && comparison.value_b > 0) {
    text += fmt::format("median {}: {} -> {}; {} runs, {}\n", comparison.metric,
                        metric_value_text(metric, comparison.value_a), metric_value_text(metric, comparison.value_b),
                        judgement.processes, format_seconds(judgement.seconds));
  }
  text += correctness_text(comparison) + "\n";
  const std::string reason = reason_word(comparison);
  return text + fmt::format("verdict: {}{}{}\n", verdict_word(comparison), reason.empty() ? "" : " (" + reason + ")",
                            comparison.id == 0 ? "" : fmt::format("; 'apo show c{}' has every round", comparison.id));
}

std::string command_comparison_in_full(const CommandComparison& comparison) {
  std::string text = paint(fmt::format("comparison c{}", comparison.id), "bold") + " of two commands\n";
  std::vector<std::vector<std::string>> rows = {
      {"  A", comparison.command_a},
      {"  B", comparison.command_b},
      {"  folder", comparison.folder},
      {"  metric", comparison.metric + (comparison.higher_is_better ? ", higher is better" : ", lower is better") +
                       (comparison.runs > 1 ? fmt::format(", the best of {} runs a round", comparison.runs) : "")},
      {"  machine", comparison.machine},
      {"  layout", std::string(to_string(comparison.layout))},
      {"  started", comparison.started_at},
      {"  finished", comparison.finished_at.empty() ? "not yet, or interrupted" : comparison.finished_at}};
  if (comparison.purpose == CommandPurpose::gate) {
    rows.push_back({"  margin", format_percent(comparison.margin)});
  }
  text += format_table(rows);
  if (comparison.judgement) {
    const Judgement& judgement = *comparison.judgement;
    text += "\n" + paint("judgement", "bold") + "\n" + judgement.sentence + "\n" + command_comparison_text(comparison);
    text += "judge: " + (judgement.preset.empty() ? "none" : judgement.preset) + ", alpha " +
            format_g(judgement.alpha, 3) + ", rule " + judgement.rule_version + "\n";
  }
  return text + rounds_of_commands(comparison);
}

}  // namespace apo
