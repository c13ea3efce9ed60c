// harness/applications/comparisons.cpp - machine, rounds or runs, and verdict, each a row when it is there.
#include "harness/applications/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/core/comparisons/command_metric.h"
#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "harness/evaluate/programs/suite.h"
#include "harness/loop/campaign_progress.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/machines.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

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

ProgramComparison compare_programs(Workspace& workspace, Journal* journal, ProgramComparison asked,
                                   std::optional<Target> target, Observer& observer) {
  const bool commands = asked.kind == ComparisonKind::commands;
  const bool may_use_gpu = !commands || parse_metric(asked.commands.metric).kind == MetricKind::nvbench;
  workspace.use(target.value_or(may_use_gpu && workspace.has_gpu() ? Target::cuda : Target::host));
  const Machine machine = workspace.machine();
  ProgramComparison comparison = std::move(asked);
  comparison.machine = machine.id;
  comparison.started_at = utc_now();
  comparison.folder = comparison.folder.empty() ? fs::current_path().string() : comparison.folder;
  ComparisonHooks hooks;
  if (journal != nullptr) {
    hooks = {.on_begin = [&] { begin(*journal, machine, comparison, observer); },
             .on_round = [&](const Round& round) { add_comparison_round(*journal, comparison.id, round); },
             .on_run = [&](const ApplicationRun& run) { add_comparison_run(*journal, comparison.id, run); },
             .noise = is_suite(comparison) ? known_noise(*journal, comparison) : std::map<std::string, double>()};
  }
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [&] {
    comparison.judgement->seconds = seconds_since(start);
    comparison.judgement->cache_policy.reset();  // the caches are the programs' own affair
    comparison.finished_at = utc_now();
    if (journal != nullptr) {
      finish_comparison(*journal, comparison);
    }
  };
  try {
    judge_programs(comparison, secret_seed(), workspace.turns(), observer, hooks);
  } catch (const EnvironmentError&) {
    if (comparison.judgement) {
      finish();
    }
    throw;
  }
  finish();
  return comparison;
}

ComparisonReplay replay_comparison(Workspace& workspace, Journal& journal, std::int64_t id, Observer& observer) {
  ComparisonReplay replay{.original = load_comparison(journal, id)};
  const ProgramComparison& original = replay.original;
  check_judged(original);
  const std::optional<Machine> then = find_machine(journal, original.machine);
  const Target target = then ? then->target : Target::host;
  replay.again = compare_programs(workspace, &journal, asked_by(original), target, observer);
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
