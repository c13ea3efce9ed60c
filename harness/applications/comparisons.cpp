// harness/applications/comparisons.cpp - machine, rounds or runs, verdict and expectation, each a row when it is there.
#include "harness/applications/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/applications/expectation.h"
#include "harness/applications/judge_application.h"
#include "harness/applications/run_application.h"
#include "harness/core/comparisons/command_metric.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/commands/judge_commands.h"
#include "harness/evaluate/commands/suite.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/profile/application/application_summary.h"
#include "journal/facts/applications.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/machines.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// One a family; none of a library.
std::vector<std::string> documents_of(const fs::path& dispatch) {
  std::vector<std::string> documents;
  if (fs::is_directory(dispatch)) {
    for (const fs::directory_entry& file : fs::directory_iterator(dispatch)) {
      if (file.is_regular_file() && file.path().filename().string().ends_with(kDispatchDocument)) {
        documents.push_back(read_file(file.path()));
      }
    }
  }
  return documents;
}

Expectation kernel_effect(const ProgramComparison& comparison, const Machine& machine) {
  return kernel_effect(documents_of(comparison.a), documents_of(comparison.b), machine);
}

// The length of a step of A, the median over its runs.
double step_of_a(const ProgramComparison& comparison) {
  std::vector<double> seconds;
  for (const ApplicationRun& run : comparison.runs) {
    if (run.side == Side::a && run.view == ComparisonView::fixed_steps && run.steps > 0) {
      seconds.push_back(run.seconds / run.steps);
    }
  }
  return seconds.empty() ? 0 : median(seconds);
}

// Runs A under the injected recorder and keeps the profile. Throws UserError and EnvironmentError where it cannot.
RecordedSteps record(const RunOfA& run_a, const ProgramComparison& comparison, const Machine& machine,
                     Journal& journal) {
  const TemporaryFolder folder("apo-recordings");
  const ApplicationRun run = run_a(recorder_environment(folder.path()));
  if (run.outcome != Outcome::valid) {
    throw UserError("its run under the recorder failed: " + run.evidence);
  }
  ApplicationProfile profile{.source = "run",
                             .command = join(comparison.application.command, " "),
                             .exit_code = 0,
                             .seconds = run.wall_s,
                             .device = machine.model};
  collect_recordings(folder.path(), profile);
  const ApplicationSummary summary = summarise(profile, Categories::for_pytorch());
  return {.profile = add_application(journal, profile, summary, machine.id),
          .summary = summary,
          .steps = comparison.application.warmup_steps + run.steps};
}

// As record() does; says why not where it cannot.
RecordedSteps record_or_say(const RunOfA& run_a, const ProgramComparison& comparison, const Machine& machine,
                            Journal& journal) {
  try {
    return record(run_a, comparison, machine, journal);
  } catch (const UserError& error) {
    return {.missing = error.what()};
  } catch (const EnvironmentError& error) {
    return {.missing = error.what()};
  }
}

ProgramComparison asked_here(ProgramComparison asked, const Machine& machine) {
  asked.machine = machine.id;
  asked.started_at = utc_now();
  asked.folder = asked.folder.empty() ? fs::current_path().string() : asked.folder;
  return asked;
}

void begin(Journal& journal, const Machine& machine, ProgramComparison& comparison, Observer& observer) {
  static_cast<void>(recover(journal, observer));  // says each
  add_machine(journal, machine);
  comparison.id = begin_comparison(journal, comparison);
}

void check_judged(const ProgramComparison& original) {
  if (!original.judgement || original.judgement->rule_version.empty()) {  // no rule made the verdict "interrupted"
    throw UserError(fmt::format("comparison c{} was never judged: it was interrupted, or is under way", original.id),
                    "'apo query --sql \"SELECT id, verdict FROM comparisons\"' lists the others");
  }
  if (!fs::is_directory(original.folder)) {
    throw UserError(fmt::format("comparison c{} ran in '{}', which is no folder here", original.id, original.folder),
                    "judge anew where they are: 'apo compare --command-a', 'apo compare --application'");
  }
}

// Copies the request, without any result.
ProgramComparison asked_by(const ProgramComparison& original) {
  ProgramComparison asked{.kind = original.kind,
                          .purpose = original.purpose,
                          .a = original.a,
                          .b = original.b,
                          .folder = original.folder,
                          .margin = original.margin,
                          .alpha = original.alpha,
                          .commands = original.commands,
                          .application = original.application};
  for (std::string* dispatch : {&asked.a, &asked.b}) {
    if (asked.kind == ComparisonKind::application) {
      *dispatch = (fs::path(original.folder) / *dispatch).string();
      if (!fs::exists(*dispatch)) {
        throw UserError(
            fmt::format("comparison c{} had the dispatch '{}', which is gone", original.id, *dispatch),
            "write it again with 'apo export --dispatch', or judge others with 'apo compare --application'");
      }
    }
  }
  return asked;
}

// What the newest run of A against itself on this machine says, by the same metric.
std::map<std::string, double> known_noise(Journal& journal, const ProgramComparison& asked) {
  const std::vector<ProgramComparison> all = all_comparisons(journal);
  const auto newest = std::find_if(all.rbegin(), all.rend(), [&](const ProgramComparison& one) {
    return is_suite(one) && is_same(one) && one.judgement && one.judgement->rounds > 0 &&
           one.machine == asked.machine && one.commands.metric == asked.commands.metric;
  });
  return newest == all.rend() ? std::map<std::string, double>() : noise_of(load_comparison(journal, newest->id));
}

// Of what has no interval to hold against another one: its bounds are one-sided, or its pairs were cut short.
std::string ending_of(const ProgramComparison& comparison) {
  return verdict_word(comparison) +
         (comparison.failed ? fmt::format(" ({} with {})", to_string(comparison.outcome), to_string(*comparison.failed))
                            : "");
}

}  // namespace

ProgramComparison compare_commands(Workspace& workspace, Journal* journal, ProgramComparison asked,
                                   std::optional<Target> target, Observer& observer) {
  const bool may_use_gpu = parse_metric(asked.commands.metric).kind == MetricKind::nvbench;
  workspace.use(target.value_or(may_use_gpu && workspace.has_gpu() ? Target::cuda : Target::host));
  ProgramComparison comparison = asked_here(std::move(asked), workspace.machine());
  CommandHooks hooks;
  if (journal != nullptr) {
    hooks.noise = is_suite(comparison) ? known_noise(*journal, comparison) : hooks.noise;
    hooks.on_begin = [&] { begin(*journal, workspace.machine(), comparison, observer); };
    hooks.on_round = [&](const Round& round) { add_comparison_round(*journal, comparison.id, round); };
  }
  const auto finish = [&] {
    if (journal != nullptr && comparison.judgement) {
      finish_comparison(*journal, comparison);
    }
  };
  try {
    judge_commands(comparison, secret_seed(), workspace.turns(), observer, hooks);
  } catch (const EnvironmentError&) {
    finish();
    throw;
  }
  finish();
  return comparison;
}

ProgramComparison compare_dispatches(Workspace& workspace, Journal& journal, ProgramComparison asked,
                                     Observer& observer) {
  const Machine machine = workspace.machine();
  ProgramComparison comparison = asked_here(std::move(asked), machine);
  const Expectation kernel = kernel_effect(comparison, machine);
  RecordedSteps recorded = {.missing = "not all runs ended well"};
  const ApplicationHooks hooks = {
      .on_begin = [&] { begin(journal, machine, comparison, observer); },
      .on_run = [&](const ApplicationRun& run) { add_comparison_run(journal, comparison.id, run); },
      .on_pairs =
          [&](const RunOfA& run_a) {
            if (kernel.missing.empty() && !comparison.application.kernels.empty()) {
              recorded = record_or_say(run_a, comparison, machine, journal);
            }
          }};
  judge_application(comparison, secret_seed(), workspace.turns(), observer, hooks);
  comparison.expectation = expectation_of(kernel, comparison.application.kernels, recorded, step_of_a(comparison),
                                          comparison.judgement->rounds > 0 ? &comparison.figures.front() : nullptr);
  finish_comparison(journal, comparison);
  return comparison;
}

ComparisonReplay replay_comparison(Workspace& workspace, Journal& journal, std::int64_t id, Observer& observer) {
  ComparisonReplay replay{.original = load_comparison(journal, id)};
  const ProgramComparison& original = replay.original;
  check_judged(original);
  const std::optional<Machine> then = find_machine(journal, original.machine);
  const Target target = then ? then->target : Target::host;
  if (original.kind == ComparisonKind::commands) {
    replay.again = compare_commands(workspace, &journal, asked_by(original), target, observer);
  } else {
    workspace.use(target);
    replay.again = compare_dispatches(workspace, journal, asked_by(original), observer);
  }
  replay.differences = judge_differences(then, workspace.machine(), original.judgement->rule_version);
  replay.reproduction = reproduction_of(original, replay.again);
  return replay;
}

Reproduction reproduction_of(const ProgramComparison& original, const ProgramComparison& again) {
  if (original.gate || original.failed || again.failed) {
    const std::string then = ending_of(original);
    const std::string now = ending_of(again);
    return {then == now, then == now ? "the same verdict, " + now : "it was " + then + " and is " + now};
  }
  return reproduction_of({.judgement = original.judgement, .outcome = original.outcome},
                         Experiment{.judgement = again.judgement, .outcome = again.outcome});
}

}  // namespace apo
