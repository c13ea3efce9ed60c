// harness/cli/improve/compare.cpp - `apo compare`: judges one variant or command against another, outside a campaign.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
  bool trusted = false;
  bool no_journal = false;
  bool same_code = false;
  CommandOptions commands;
};

InterruptNote note_of_comparison(bool keep, const Globals& globals) {
  return {keep ? "the journal keeps the rounds that were measured" : "nothing was kept", "compare anew with",
          globals.words};
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

int compare_two_commands(const CompareOptions& options, const Globals& globals) {
  ProgramComparison asked = asked_of(options.commands, ComparisonPurpose::compare, options.judge, options.layout);
  const std::optional<Target> target = asked_target(options.commands.target);
  Workspace workspace(make_paths(globals.journal));
  std::optional<Journal> journal;
  if (!options.no_journal) {
    journal.emplace(Journal::open(workspace.paths().journal, Access::read_write));
  }
  ConsoleObserver observer(globals);
  const InterruptNote note = note_of_comparison(journal.has_value(), globals);
  const ProgramComparison comparison =
      compare_commands(workspace, journal ? &*journal : nullptr, std::move(asked), target, observer);
  print_answer(globals, to_document(comparison),
               comparison.b + " against " + comparison.a + "\n" + comparison_text(comparison));
  return comparison.judgement->reason == Reason::gate_failed ? kGateFailed : kDone;
}

int compare(const CompareOptions& options, const Globals& globals) {
  if (options.commands.given()) {
    return compare_two_commands(options, globals);
  }
  if (options.candidate.empty()) {
    throw UserError("apo compare needs two variants, or two commands",
                    "'apo compare copy/simple copy/memcpy', or 'apo compare --command-a CMD --command-b CMD --metric "
                    "seconds'");
  }
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
                                  .layout = checked_layout(options.layout)};
  const InterruptNote note = note_of_comparison(request.keep, globals);
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

}  // namespace

Action define_compare(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<CompareOptions>();
  std::vector<CLI::Option*> of_variants = {
      app.add_option("incumbent", options->incumbent, "A: the variant to compare with"),
      app.add_option("candidate", options->candidate, "B: the variant to judge"),
      app.add_option("--workload", options->workloads,
                     "workload to compare on; may repeat (default: the family's first)")
          ->allow_extra_args(false),
      app.add_option("--cache", options->cache, "cold (flush the caches before every sample) or warm (default: cold)")};
  app.add_option("--judge", options->judge,
                 "judge preset: auto (from an A/A run), standard, extended, strict or precise (default: auto)");
  add_layout(app, options->layout);
  of_variants.push_back(app.add_flag("--skip-correctness", options->trusted, "skip the correctness gates of both"));
  of_variants.push_back(
      app.add_flag("--same-code", options->same_code, "time identical machine code too, for an A/A run"));
  app.add_flag("--no-journal", options->no_journal, "do not keep the experiment in the journal");
  add_command_options(app, options->commands, of_variants);
  app.footer(
      std::string(kJudgedExitCodes) +
      "\n"
      "Two commands: --command-a, --command-b and --metric. Their runs are not confined, and nothing is known of\n"
      "their correctness but what --correct says. gbench puts --benchmark_format=json behind the command, nvbench "
      "--json "
      "FILE.");
  return [options, &globals] { return compare(*options, globals); };
}

}  // namespace apo
