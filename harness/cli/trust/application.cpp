// harness/cli/trust/application.cpp - `apo application compare`: judges one dispatch against another by a program that
// uses them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/applications/comparisons.h"
#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/core/applications/application_document.h"
#include "harness/core/json/records_json.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct DispatchComparisonOptions {
  std::string action;
  std::string dispatch_a;
  std::string dispatch_b;
  std::string file;
  int pairs = 0;
  std::string fixed_time;
  std::string target = "auto";
};

DeclaredApplication application_of(const DispatchComparisonOptions& options) {
  DeclaredApplication application = load_application(options.file);
  application.pairs = options.pairs > 0 ? options.pairs : application.pairs;
  if (!options.fixed_time.empty()) {
    application.fixed_time_s = checked_duration("--fixed-time", options.fixed_time);
  }
  return application;
}

bool refuses(const ProgramComparison& comparison) {
  return comparison.judgement->reason == Reason::gate_failed || comparison.judgement->reason == Reason::quality_lost;
}

int compare_by_application(const DispatchComparisonOptions& options, const Globals& globals) {
  ProgramComparison asked{.kind = ComparisonKind::application,
                          .a = options.dispatch_a,
                          .b = options.dispatch_b,
                          .application = application_of(options)};
  Workspace workspace(make_paths(globals.journal));
  workspace.use(resolve_target(options.target, workspace));
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  ConsoleObserver observer(globals);
  const InterruptNote note("the journal keeps the runs that had ended", "compare anew with", globals.words);
  const ProgramComparison comparison = compare_dispatches(workspace, journal, std::move(asked), observer);
  print_answer(globals, to_document_with_runs(comparison), comparison_text(comparison));
  return refuses(comparison) ? kGateFailed : kDone;
}

}  // namespace

Action define_application(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<DispatchComparisonOptions>();
  app.add_option("action", options->action, "compare: judge dispatch B against dispatch A")
      ->required()
      ->check(CLI::IsMember({"compare"}));
  app.add_option("dispatch_a", options->dispatch_a,
                 "A: folder of a dispatch, or a library that the application loads; the baseline")
      ->required();
  app.add_option("dispatch_b", options->dispatch_b, "B: the one to judge")->required();
  app.add_option("--application", options->file, "campaign file, or another one, with the key \"application\"")
      ->required();
  app.add_option("--pairs", options->pairs,
                 "pairs of fresh runs (default: as declared, else 14); fewer than 10 decide the quality alone")
      ->check(CLI::Range(kLeastPairs, 1000));
  app.add_option("--fixed-time", options->fixed_time,
                 "also show what is done within this time, start-up included, for example 60s");
  app.add_option("--target", options->target,
                 "device that the application runs on, for the record and for taking turns: auto, host or cuda");
  app.footer(
      "The application gets $APO_DISPATCH (or the declared variable), $APO_SEED, and $APO_STEPS or $APO_SECONDS, and\n"
      "prints {\"apo_step\": 1, \"seconds\": 0.012, \"loss\": 2.31} for each step. Its runs are not confined.");
  return [options, &globals] { return compare_by_application(*options, globals); };
}

}  // namespace apo
