// harness/cli/improve/run.cpp - `apo run`: runs iterations of the loop.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/applications/campaign_application.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/improve/run_text.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/fleet/placed_experiments.h"
#include "harness/fleet/worker_commands.h"
#include "harness/loop/campaign.h"
#include "harness/loop/policy.h"
#include "harness/research/proposers/brief.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string family;
  std::string campaign_file;
  std::vector<std::string> workloads;
  std::string baseline;
  std::string target = "auto";
  int iterations = 0;
  int candidates = 0;
  std::string budget;
  std::string cache;
  std::string judge;
  std::string layout;
  std::string launch;
  std::string solo_run;
  bool remeasure = false;
  bool begin_anew = false;
  ProposerOptions proposers;
  std::string proposer_time;
  std::vector<std::string> workers;
};

Policy policy_of(const RunOptions& options, const Paths& paths) {
  if (options.family.ends_with(".json")) {
    throw UserError("'" + options.family + "' is no family", "a campaign file: apo run --campaign " + options.family);
  }
  if (!options.campaign_file.empty() && !options.family.empty()) {
    throw UserError("a family and --campaign were both given",
                    "the campaign file names its family: drop one of the two");
  }
  Policy policy;
  if (!options.campaign_file.empty()) {
    policy = load_policy(options.campaign_file);
  } else if (!options.family.empty()) {
    policy = default_policy(options.family);
  } else {
    policy = load_policy(paths.home / "experiments" / "default.json");
  }
  if (!options.workloads.empty()) {
    policy.workloads = options.workloads;
  }
  if (!options.baseline.empty()) {
    policy.baseline = options.baseline;
  }
  policy.iterations = options.iterations > 0 ? options.iterations : policy.iterations;
  policy.candidates_per_iteration = options.candidates > 0 ? options.candidates : policy.candidates_per_iteration;
  policy.cache_policy = options.cache.empty() ? policy.cache_policy : checked_cache_policy(options.cache);
  policy.judge_preset = options.judge.empty() ? policy.judge_preset : options.judge;
  policy.launch = options.launch.empty() ? policy.launch : checked_launch_form(options.launch);
  policy.layout = options.layout.empty() ? policy.layout : checked_layout(options.layout);
  if (!options.solo_run.empty()) {
    policy.solo_run_s = solo_run_seconds(options.solo_run, "--solo-run", "");
  }
  if (!options.budget.empty()) {
    policy.budget_s = budget_seconds(options.budget, "--budget", "");
  }
  complete_policy(policy, "");
  return policy;
}

TypedOptions typed_of(const CLI::App& app) {
  TypedOptions typed;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->count() > 0; })) {
    typed.insert(option->get_name());
  }
  return typed;
}

ProposerOptions proposers_of(const RunOptions& options) {
  ProposerOptions proposers = options.proposers;
  if (!options.proposer_time.empty()) {
    proposers.timeout_s = checked_duration("--proposer-time", options.proposer_time);
  }
  return proposers;
}

WorkerCommands workers_of(const RunOptions& options, const Globals& globals, Workspace& workspace) {
  return worker_commands(options.workers, {.program = executable_path().string(),
                                           .families = globals.families,
                                           .builds_folder = workspace.paths().builds,
                                           .target = workspace.target()});
}

// On host this process has to keep to as many CPUs as each worker has.
void keep_to_cpus_of(const WorkerCommands& workers, Workspace& workspace, Observer& observer) {
  if (workers.cpus.empty()) {
    return;
  }
  const std::size_t cpus = usable_cpus().size();
  if (workspace.target() == Target::host && workers.cpus.size() < cpus) {
    observer.say(
        fmt::format("this process keeps to {} of its {} CPUs, as each worker does: what it finds is of a machine "
                    "with so many; without workers 'taskset -c' goes on with it",
                    workers.cpus.size(), cpus));
  }
  workspace.keep_to(workers.cpus);
}

// Without workers this process judges.
StartRemoteJudge fleet_of(const WorkerCommands& workers) {
  if (workers.commands.empty()) {
    return {};
  }
  return [=](const CampaignFrame& frame) {
    return start_fleet({.commands = workers.commands, .program = identity_of_program(APO_VERSION)}, frame);
  };
}

// The same command goes on with what it was doing; with --new it would begin once more.
InterruptNote note_of_run(std::vector<std::string> words) {
  std::erase(words, "--new");
  return {"the journal keeps every finished experiment and the rounds of this one", "go on with", words};
}

Json application_document(const CampaignApplication& application) {
  if (!application.missing.empty()) {
    return {{"missing", application.missing}};
  }
  return application.comparison ? to_document_with_runs(*application.comparison) : Json(nullptr);
}

Json summary_document(const CampaignSummary& summary) {
  const auto iteration_document = [](const IterationSummary& record) {
    return APO_DOCUMENT(index, incumbent, time_ns, bottlenecks, experiments);
  };
  const auto untried_document = [](const UntriedGroup& record) { return APO_DOCUMENT(why, variants); };
  return {{"campaign", summary.id},
          {"family", summary.policy.family},
          {"workloads", summary.policy.workloads},
          {"baseline", to_document(summary.baseline)},
          {"incumbent", to_document(summary.incumbent)},
          {"withdrawn", summary.withdrawn},
          {"resumed", summary.resumed},
          {"recovered", summary.recovered},
          {"stopped", summary.stopped},
          {"iterations", list_of(summary.iterations, iteration_document)},
          {"untried", list_of(summary.untried, untried_document)},
          {"unwritten", summary.iterations.empty() ? Json::array() : to_documents(summary.iterations.back().unwritten)},
          {"proposer_calls", to_documents(summary.proposer_calls)},
          {"certifications", to_documents(summary.certifications)},
          {"application", application_document(summary.application)},
          {"naive_product", ratio_or_null(summary.naive_effect)},
          {"shrunken_product", ratio_or_null(summary.shrunken_effect)},
          {"report", summary.report},
          {"seconds", summary.seconds}};
}

int run(const RunOptions& options, const TypedOptions& typed, const Globals& globals) {
  static_cast<void>(asked_target(options.target));
  const Paths paths = make_paths(globals.journal);
  Policy policy = policy_of(options, paths);
  Workspace workspace(paths);
  ConsoleObserver observer(globals);
  choose_target(options.target, !options.workloads.empty() || !options.campaign_file.empty(), workspace, policy,
                observer);
  const InterruptNote note = note_of_run(globals.words);
  const WorkerCommands workers = workers_of(options, globals, workspace);
  keep_to_cpus_of(workers, workspace, observer);
  const CampaignSummary summary = run_campaign(workspace,
                                               {.policy = policy,
                                                .typed = typed,
                                                .command = globals.words,
                                                .begin_anew = options.begin_anew,
                                                .remeasure_roofs = options.remeasure,
                                                .proposers = proposers_of(options),
                                                .start_remote = fleet_of(workers),
                                                .judge_by_application = judge_campaign_by_application},
                                               observer);
  print_answer(globals, summary_document(summary), summary_text(summary));
  return refused_by_application(summary) ? kGateFailed : kDone;
}

}  // namespace

Action define_run(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<RunOptions>();
  app.add_option("family", options->family, "kernel family (default: the campaign of experiments/default.json)");
  app.add_option("--campaign", options->campaign_file, "campaign file (JSON); experiments/default.json is an example");
  app.add_option("--workload", options->workloads, "workload to improve; may repeat, all of one class")
      ->allow_extra_args(false);
  app.add_option("--baseline", options->baseline, "start from this configuration instead of the incumbent");
  app.add_option("--target", options->target,
                 "host, cuda or auto: the baseline's target, else a GPU when one is usable (default: auto)");
  app.add_option("--iterations", options->iterations, "run this many iterations")->check(CLI::Range(1, 100000));
  app.add_option("--candidates", options->candidates, "judge at most this many candidates in an iteration")
      ->check(CLI::Range(1, 100000));
  app.add_option("--budget", options->budget, "start no iteration after this time, for example 10m");
  app.add_option("--cache", options->cache, "cold (flush the caches before every sample) or warm");
  app.add_option("--judge", options->judge, "judge preset: auto, standard, extended, strict or precise");
  add_layout(app, options->layout);
  add_launch(app, options->launch);
  app.add_option("--solo-run", options->solo_run,
                 "length of the solo runs with which a certification detects clock throttling, 24 a workload "
                 "(default: 2s on a GPU, none on a CPU)");
  app.add_option("--proposer", options->proposers.commands,
                 "command that reads the brief on its standard input and answers with candidates, a JSON object a "
                 "line; may repeat (docs/agents.md)")
      ->allow_extra_args(false);
  app.add_option("--proposer-time", options->proposer_time, "end a proposer after this time (default: 10m)");
  app.add_option("--proposals", options->proposers.most, "read at most this many candidates of an answer")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--workers", options->workers,
                 "judge on these workers at once: local:all, local:N, a command such as 'ssh HOST apo worker --serve', "
                 "or N*COMMAND; may repeat (docs/scale.md)")
      ->allow_extra_args(false);
  app.add_flag("--remeasure", options->remeasure, "measure the roofs again, even if the journal has them");
  app.footer("Exit code: 3 when the application that the campaign file declares refuses what the campaign ends with.");
  app.add_flag("--new", options->begin_anew, "begin a campaign even if an interrupted one could go on");
  return [options, &app, &globals] { return run(*options, typed_of(app), globals); };
}

}  // namespace apo
