// harness/cli/trust/gate.cpp - `apo gate`: fails when a variant is slower than its stored self, or a command than
// another.
#include "harness/loop/gate/gate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/applications/comparisons.h"
#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/command_options.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/cli/trust/gate_document.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "journal/journal.h"
#include "reports/render.h"

namespace apo {
namespace {

struct GateOptions {
  std::string baseline;
  std::string store;
  std::vector<std::string> store_variants;  // positional
  std::vector<std::string> variants;
  std::vector<std::string> workloads;
  std::string margin;
  double alpha = 0.01;
  bool same = false;
  std::string junit;
  std::string markdown;
  std::string cache = "cold";
  std::string judge = "auto";
  std::string layout = "random";
  CommandOptions commands;
};

// "2%" or "2 %" of the time as a fraction. Nothing was asked: none of a suite, else 2 %.
double margin_of(const std::string& asked, bool of_suite = false) {
  if (asked.empty() && of_suite) {
    return 0;
  }
  const std::string text = asked.empty() ? "2%" : asked;
  const std::string trimmed = trim(text);
  const auto value = trimmed.ends_with('%') ? parse_double(trim(trimmed.substr(0, trimmed.size() - 1))) : std::nullopt;
  if (!value || !(*value > 0) || !(*value <= 100)) {
    throw UserError("--margin '" + text + "' is not a percentage above 0 % and up to 100 %",
                    "write the slowdown to tolerate, for example --margin 2%");
  }
  return *value / 100;
}

int store(const GateOptions& options, const Globals& globals) {
  if (options.store_variants.empty()) {
    throw UserError("--store needs the variants to store",
                    "for example: apo gate --store " + options.store + " copy/simple; 'apo list' shows all");
  }
  Workspace workspace(make_paths(globals.journal));
  const std::vector<StoredVariant> stored = store_variants(workspace, options.store_variants, options.workloads);
  write_baseline(options.store, stored);
  nlohmann::ordered_json document = {{"file", options.store}, {"variants", nlohmann::ordered_json::array()}};
  for (const StoredVariant& one : stored) {
    document["variants"].push_back(
        {{"variant", one.label()}, {"workloads", one.workloads}, {"source_hash", one.variant.source_hash}});
    if (!globals.json) {
      print("stored " + one.label() + " on " + join(one.workloads, ", ") + "\n");
    }
  }
  if (globals.json) {
    print_json(document);
  }
  return kDone;
}

int exit_code(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed:
      return kDone;
    case GateVerdict::undecided:
      return kEnvironmentTrouble;
    case GateVerdict::regressed:
    case GateVerdict::failed:
      break;
  }
  return kGateFailed;
}

void write_junit(const GateOptions& options, const std::vector<GatedPair>& gated, Unresolved unresolved) {
  if (!options.junit.empty()) {
    write_file_atomically(options.junit, gate_junit(gated, unresolved));
  }
}

// A figure of no rounds is no number: nothing was timed.
void add_number(GatedPair& pair, const Figure& figure) {
  if (figure.count > 0) {
    pair.outcome.state.workloads = {{.answer = *pair.outcome.gate == GateVerdict::passed      ? GateAnswer::passed
                                               : *pair.outcome.gate == GateVerdict::regressed ? GateAnswer::regressed
                                                                                              : GateAnswer::undecided,
                                     .rounds = figure.count,
                                     .effect = std::log(figure.change),
                                     .lower = std::log(figure.lower),
                                     .upper = std::log(figure.upper)}};
  }
}

// In the form of pairs of variants: one of a single metric and of commands that failed, else one a benchmark.
std::vector<GatedPair> gated_pairs(const ProgramComparison& comparison) {
  const Judgement& judgement = *comparison.judgement;
  GatedPair whole{
      .label = comparison.b,
      .workloads = {comparison.commands.metric},
      .outcome = {.judgement = judgement, .outcome = comparison.outcome, .gate = comparison.gate},
      .gates = {{.gate = comparison.outcome == Outcome::incorrect ? "correctness" : "timing",
                 .outcome = comparison.outcome,
                 .evidence = judgement.sentence,
                 .seconds = judgement.seconds}},
      .rounds = static_cast<std::size_t>(std::ranges::count(comparison.rounds, RoundStage::gate, &Round::stage))};
  if (!is_suite(comparison) || comparison.outcome != Outcome::valid) {
    if (!comparison.figures.empty()) {
      add_number(whole, comparison.figures.front());
    }
    return {whole};
  }
  whole.gates.clear();
  whole.outcome.judgement.seconds = 0;  // that of the suite is no benchmark's
  std::vector<GatedPair> pairs;
  for (const Figure& figure : comparison.figures) {
    if (figure.finding) {
      GatedPair& pair = pairs.emplace_back(whole);
      pair.label = figure.metric;
      pair.outcome.gate = figure.finding == QualityFinding::worse          ? GateVerdict::regressed
                          : figure.finding == QualityFinding::inconclusive ? GateVerdict::undecided
                                                                           : GateVerdict::passed;
      pair.outcome.judgement.sentence = std::string(benchmark_word(*figure.finding)) + "; " + power_text(figure);
      add_number(pair, figure);
    }
  }
  return pairs;
}

int gate_two_commands(const GateOptions& options, const Globals& globals) {
  CommandOptions commands = options.commands;
  if (options.same) {
    commands.asked.b = commands.asked.a;
  }
  ProgramComparison asked = asked_of(commands, ComparisonPurpose::gate, options.judge, options.layout);
  const double margin = margin_of(options.margin, is_suite(asked));
  asked.margin = std::log1p(margin);
  asked.alpha = options.alpha;
  if (!options.markdown.empty() && !is_suite(asked)) {
    throw UserError("--markdown is for a suite of benchmarks, and metric '" + asked.commands.metric + "' is one number",
                    "leave out the name: --metric gbench");
  }
  const std::optional<Target> target = asked_target(options.commands.target);
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  const ProgramComparison comparison = compare_programs(workspace, &journal, std::move(asked), target, observer);
  const bool suite = is_suite(comparison);
  const std::vector<GatedPair> gated = gated_pairs(comparison);
  auto document = gate_document(gated, margin);
  document["verdict"] = to_string(*comparison.gate);
  document["commands"] = to_document(comparison);
  print_answer(globals, document, suite ? suite_text(comparison) : gate_text(gated) + comparison_text(comparison));
  write_junit(options, gated, suite ? Unresolved::skipped : Unresolved::error);
  if (!options.markdown.empty()) {
    write_file_atomically(options.markdown, report::render_suite_summary(comparison));
  }
  return exit_code(*comparison.gate);
}

int gate(const GateOptions& options, const Globals& globals) {
  if (!options.store_variants.empty()) {
    throw UserError("'" + options.store_variants.front() + "' is named without --store",
                    "choose among the stored ones with --variant " + options.store_variants.front());
  }
  const double margin = margin_of(options.margin);
  GateRequest request{.stored = select_variants(read_baseline(options.baseline), options.variants, options.baseline),
                      .workloads = options.workloads,
                      .margin = std::log1p(margin),
                      .cache_policy = checked_cache_policy(options.cache),
                      .judge_preset = options.judge,
                      .layout = checked_layout(options.layout)};
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const std::vector<GatedPair> gated = run_gate(workspace, request, observer);
  print_answer(globals, gate_document(gated, margin), gate_text(gated));
  write_junit(options, gated, Unresolved::error);
  return exit_code(overall(gated));
}

}  // namespace

Action define_gate(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<GateOptions>();
  auto* baseline =
      app.add_option("--baseline", options->baseline, "compare the checkout with the baseline in this file");
  auto* store_file = app.add_option("--store", options->store, "store the named variants in this file as the baseline");
  baseline->excludes(store_file);
  auto* names = app.add_option("variants", options->store_variants,
                               "with --store: FAMILY/NAME or FAMILY/NAME[TUNABLE=VALUE,...]");
  app.add_option("--margin", options->margin,
                 "slowdown to tolerate (default: 2%; of a suite none: any slowdown that is shown is red)")
      ->excludes(store_file);
  auto* variant = app.add_option("--variant", options->variants, "check only this stored variant; may repeat")
                      ->allow_extra_args(false)
                      ->excludes(store_file);
  auto* workload =
      app.add_option("--workload", options->workloads,
                     "workload to store or to check; may repeat (default: each family's first, or all stored ones)")
          ->allow_extra_args(false);
  app.add_option("--junit", options->junit, "also write the results to this file as JUnit XML")->excludes(store_file);
  auto* alpha = app.add_option("--alpha", options->alpha,
                               "of two commands: largest probability that the gate is red though nothing changed, "
                               "however many benchmarks a suite has (default: 0.01)")
                    ->check(CLI::Range(0.0001, 0.2));
  auto* same = app.add_flag("--same", options->same,
                            "run command A against itself: the noise of each benchmark on this machine, which later "
                            "gates are planned by");
  auto* markdown = app.add_option("--markdown", options->markdown,
                                  "also write a summary of a suite to this file, for a pull request");
  auto* cache =
      app.add_option("--cache", options->cache, "cold (flush the caches before every sample) or warm (default: cold)");
  app.add_option("--judge", options->judge,
                 "judge preset: auto (from an A/A run), standard, extended, strict or precise (default: auto)");
  add_layout(app, options->layout);
  add_command_options(app, options->commands, {baseline, store_file, names, variant, workload, cache});
  for (CLI::Option* const one : {alpha, same, markdown}) {
    one->group("Options for two commands")->needs("--command-a");
  }
  same->excludes("--command-b");
  app.footer(
      "Exit code: 0 no variant became slower by more than the margin, 3 one did or is no longer correct,\n"
      "2 this machine cannot resolve that margin. Both sources are built and measured in the same rounds.\n"
      "Two commands: --command-a (the baseline), --command-b and --metric, in place of --baseline; their runs are not\n"
      "confined, and nothing is known of their correctness but what --correct says. With --metric gbench, nvbench,\n"
      "hyperfine, pytest-benchmark or lines all benchmarks are judged, as a suite with one error budget. Those that "
      "are\n"
      "decided are not run again: gbench and nvbench get --benchmark_filter and -b behind the command; {filter} in a\n"
      "command becomes a regular expression of the wanted names; others run whole.");
  return [options, &globals] {
    for (const std::string& file : {options->junit, options->markdown}) {
      if (!file.empty()) {
        check_writable(file);
      }
    }
    if (options->commands.given()) {
      return gate_two_commands(*options, globals);
    }
    if (options->store.empty() && options->baseline.empty()) {
      throw UserError(
          "neither --baseline nor --store was given",
          "'apo gate --store FILE.json VARIANT' writes a baseline, 'apo gate --baseline FILE.json' uses it");
    }
    return options->store.empty() ? gate(*options, globals) : store(*options, globals);
  };
}

}  // namespace apo
