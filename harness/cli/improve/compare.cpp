// harness/cli/improve/compare.cpp - `apo compare`: judges one variant, command or dispatch against another, outside a
// campaign.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/applications/comparisons.h"
#include "harness/applications/inside_step.h"
#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/command_options.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/core/applications/application_document.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/comparison.h"
#include "harness/loop/trial/candidate_judge.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct CompareOptions {
  std::string incumbent;
  std::string candidate;
  std::vector<std::string> workloads;
  std::string cache = "cold";
  std::string judge = "auto";
  std::string layout = "random";
  std::string launch = "stream";
  bool trusted = false;
  bool no_journal = false;
  bool same_code = false;
  std::string inside;  // a file of a recorded step
  std::string at;
  CommandOptions commands;
  std::string application;  // a file
  int pairs = 0;            // 0: as declared
};

InterruptNote note_of_comparison(bool keep, const Globals& globals) {
  return {keep ? "the journal keeps what was measured" : "nothing was kept", "compare anew with", globals.words};
}

// As of `apo try`: the table of docs/judge.md.
ExitCode exit_code_of(const Experiment& experiment) {
  switch (verdict_of(experiment)) {
    case CandidateVerdict::wrong:
      return kGateFailed;
    case CandidateVerdict::not_judged:
      return kEnvironmentTrouble;
    default:
      return kDone;
  }
}

ProgramComparison programs_of(const CompareOptions& options) {
  if (options.application.empty()) {
    return asked_of(options.commands, ComparisonPurpose::compare, options.judge, options.layout);
  }
  ProgramComparison asked{.kind = ComparisonKind::application,
                          .a = options.incumbent,
                          .b = options.candidate,
                          .application = load_application(options.application)};
  asked.application.pairs = options.pairs > 0 ? options.pairs : asked.application.pairs;
  return asked;
}

int compare_two_programs(const CompareOptions& options, const Globals& globals) {
  ProgramComparison asked = programs_of(options);
  const std::optional<Target> target = asked_target(options.commands.target);
  Workspace workspace(make_paths(globals.journal));
  std::optional<Journal> journal;
  if (!options.no_journal) {
    journal.emplace(Journal::open(workspace.paths().journal, Access::read_write));
  }
  ConsoleObserver observer(globals);
  const InterruptNote note = note_of_comparison(journal.has_value(), globals);
  const ProgramComparison comparison =
      compare_programs(workspace, journal ? &*journal : nullptr, std::move(asked), target, observer);
  print_answer(globals, to_document_with_runs(comparison),
               comparison.b + " against " + comparison.a + "\n" + comparison_text(comparison));
  const Reason reason = comparison.judgement->reason;
  return reason == Reason::gate_failed || reason == Reason::quality_lost ? kGateFailed : kDone;
}

int compare_two_variants(const CompareOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const ComparisonRequest request{.incumbent = workspace.catalogue().configuration(options.incumbent),
                                  .candidate = workspace.catalogue().configuration(options.candidate),
                                  .workloads = options.workloads,
                                  .cache_policy = checked_cache_policy(options.cache),
                                  .judge_preset = options.judge,
                                  .skip_correctness = options.trusted,
                                  .keep = !options.no_journal,
                                  .same_code = options.same_code,
                                  .layout = checked_layout(options.layout),
                                  .launch = checked_launch_form(options.launch)};
  const InterruptNote note = note_of_comparison(request.keep, globals);
  if (!options.inside.empty()) {
    const InsideStep inside = compare_inside(workspace, request, options.inside, options.at, observer);
    print_answer(globals, to_document(inside), inside_text(inside));
    return exit_code_of(inside.step ? *inside.step : inside.own);
  }
  const Experiment experiment = compare_variants(workspace, request, observer);
  const Judgement& judgement = *experiment.judgement;
  if (globals.json) {
    print_json(to_document(experiment));
  } else {
    print(experiment.candidate.label() + " against " + experiment.incumbent.label() + " on " +
          join(experiment.workloads, ", ") + "\n");
    print(judgement.sentence + "\n");
    if (judgement.reason != Reason::gate_failed) {
      print(fmt::format("median call: {} -> {}; {} processes, {} samples, {}\n", format_ns(judgement.incumbent_ns),
                        format_ns(judgement.candidate_ns), judgement.processes, judgement.samples,
                        format_seconds(judgement.seconds)));
    }
    print(
        fmt::format("verdict: {} ({}){}\n", to_string(judgement.verdict), to_string(judgement.reason),
                    experiment.id != 0 ? fmt::format("; 'apo show {}' has the whole experiment", experiment.id) : ""));
  }
  return exit_code_of(experiment);
}

int compare(const CompareOptions& options, const Globals& globals) {
  if (!options.commands.given() && options.candidate.empty()) {
    throw UserError("apo compare needs two variants, two commands, or two dispatches",
                    "'apo compare copy/simple copy/memcpy', 'apo compare --command-a CMD --command-b CMD --metric "
                    "seconds', or 'apo compare BEFORE AFTER --application FILE'");
  }
  if (options.commands.given() || !options.application.empty()) {
    return compare_two_programs(options, globals);
  }
  if (options.commands.target != "auto") {
    throw UserError("--target is for two commands or two dispatches", "leave it out: a variant has its own target");
  }
  return compare_two_variants(options, globals);
}

// --target is that of the commands: it excludes the options of variants.
void add_application_options(CLI::App& app, CompareOptions& options, const std::vector<CLI::Option*>& others) {
  auto* file = app.add_option("--application", options.application,
                              "judge two dispatches by the application of this campaign file, or of another file with "
                              "the key \"application\": its speed and its quality");
  exclude(file, others);
  const std::vector<CLI::Option*> mine = {
      file,
      app.add_option("--pairs", options.pairs,
                     "pairs of fresh runs (default: as declared, else 14); fewer than 10 decide the quality alone")
          ->check(CLI::Range(kLeastPairs, 1000))};
  for (CLI::Option* const one : mine) {
    one->group("Options for two dispatches (and --target)");
    if (one != file) {
      one->needs(file);
    }
  }
}

}  // namespace

Action define_compare(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::Option* const a = app.add_option("a", options->incumbent,
                                        "A: the variant to compare with; with --application a dispatch: its folder, or "
                                        "a library that the application loads");
  CLI::Option* const b = app.add_option("b", options->candidate, "B: the variant or dispatch to judge");
  const std::vector<CLI::Option*> of_variants = {
      app.add_option("--workload", options->workloads,
                     "workload to compare on; may repeat (default: the family's first)")
          ->allow_extra_args(false),
      app.add_option("--cache", options->cache, "cold (flush the caches before every sample) or warm (default: cold)"),
      add_launch(app, options->launch),
      app.add_flag("--skip-correctness", options->trusted, "skip the correctness gates of both"),
      app.add_option("--inside", options->inside,
                     "also judge them inside this recorded step, in the place of the launches of their family's kernel "
                     "(a file of 'apo record --to FILE.step')"),
      app.add_flag("--same-code", options->same_code, "time identical machine code too, for an A/A run")};
  app.add_option("--at", options->at, "the kernel of the step whose launches are replaced (default: the recorded one)")
      ->needs(app.get_option("--inside"));
  CLI::Option* const judge =
      app.add_option("--judge", options->judge,
                     "judge preset: auto (from an A/A run), standard, extended, strict or precise (default: auto)");
  CLI::Option* const layout = add_layout(app, options->layout);
  app.add_flag("--no-journal", options->no_journal, "do not keep what was found in the journal");
  std::vector<CLI::Option*> not_for_commands = of_variants;
  not_for_commands.insert(not_for_commands.end(), {a, b});
  add_command_options(app, options->commands, not_for_commands);
  std::vector<CLI::Option*> not_for_applications = of_variants;
  not_for_applications.insert(not_for_applications.end(),
                              {judge, layout, app.get_option("--command-a"), app.get_option("--command-b")});
  add_application_options(app, *options, not_for_applications);
  app.footer(
      std::string(kJudgedExitCodes) +
      "\n"
      "Two commands: --command-a, --command-b and --metric. Their runs are not confined, and nothing is known of\n"
      "their correctness but what --correct says. gbench puts --benchmark_format=json behind the command, nvbench "
      "--json "
      "FILE.\n"
      "Two dispatches: the application gets $APO_DISPATCH (or the declared variable), $APO_SEED and $APO_STEPS, and\n"
      "prints {\"apo_step\": 1, \"seconds\": 0.012, \"loss\": 2.31} for each step. Its runs are not confined.");
  return [options, &globals] { return compare(*options, globals); };
}

}  // namespace apo
