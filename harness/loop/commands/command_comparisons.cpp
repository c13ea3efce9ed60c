// harness/loop/commands/command_comparisons.cpp - checks what was asked, and keeps every round once A has worked.
#include "harness/loop/commands/command_comparisons.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "harness/core/commands/command_metric.h"
#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/commands/judge_commands.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {
namespace {

void check_asked(const CommandComparison& asked) {
  static_cast<void>(parse_metric(asked.metric));
  if (parse_metric(asked.metric).is_time() && asked.higher_is_better) {
    throw UserError("--higher-is-better does not fit metric '" + asked.metric + "', which is a time",
                    "leave it out: less time is better");
  }
  static_cast<void>(asked_preset(asked.judge));
}

void use_target(Workspace& workspace, const CommandRequest& request) {
  const bool may_use_gpu = parse_metric(request.asked.metric).kind == MetricKind::nvbench;
  workspace.use(request.target ? *request.target : (may_use_gpu && workspace.has_gpu() ? Target::cuda : Target::host));
}

// Two gates agree by their words alone: their bounds are not those of an interval.
Experiment as_experiment(const CommandComparison& comparison) {
  return {.judgement = comparison.judgement, .outcome = comparison.outcome};
}

}  // namespace

CommandComparison compare_commands(Workspace& workspace, CommandRequest request, Observer& observer) {
  check_asked(request.asked);
  use_target(workspace, request);
  CommandComparison comparison = std::move(request.asked);
  comparison.machine = workspace.machine().id;
  comparison.started_at = utc_now();
  if (comparison.folder.empty()) {
    comparison.folder = std::filesystem::current_path().string();
  }
  std::optional<Journal> journal;
  CommandHooks hooks;
  if (request.keep) {
    journal.emplace(Journal::open(workspace.paths().journal, Access::read_write));
    hooks.on_begin = [&] {
      journal->add_machine(workspace.machine());
      comparison.id = journal->begin_command_comparison(comparison);
    };
    hooks.on_round = [&](const Round& round) { journal->add_command_round(comparison.id, round); };
  }
  try {
    judge_commands(comparison, secret_seed(), workspace.turns(), observer, hooks);
  } catch (const EnvironmentError&) {
    if (journal && comparison.judgement) {
      journal->finish_command_comparison(comparison);
    }
    throw;
  }
  if (journal) {
    journal->finish_command_comparison(comparison);
  }
  return comparison;
}

Reproduction reproduction_of(const CommandComparison& original, const CommandComparison& again) {
  if (original.gate || again.gate) {
    const std::string then = verdict_word(original);
    const std::string now = verdict_word(again);
    return {then == now, then == now ? "the same verdict" : "the verdict was '" + then + "' and is '" + now + "'"};
  }
  return reproduction_of(as_experiment(original), as_experiment(again));
}

CommandReplay replay_commands(Workspace& workspace, std::int64_t id, Observer& observer) {
  CommandReplay replay;
  std::optional<Machine> then;
  {
    Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
    replay.original = journal.load_command_comparison(id);
    then = journal.machine(replay.original.machine);
  }
  const CommandComparison& original = replay.original;
  if (!original.judgement) {
    throw UserError(fmt::format("comparison c{} was never judged: it was interrupted, or is under way", id),
                    "'apo query --commands' lists the others");
  }
  if (!std::filesystem::is_directory(original.folder)) {
    throw UserError(fmt::format("comparison c{} ran in '{}', which is no folder here", id, original.folder),
                    "compare the commands anew where they are");
  }
  CommandRequest request{.asked = original, .target = then ? then->target : Target::host};
  request.asked.id = 0;
  request.asked.rounds.clear();
  request.asked.judgement.reset();
  request.asked.gate.reset();
  request.asked.outcome = Outcome::valid;
  replay.again = compare_commands(workspace, std::move(request), observer);
  replay.differences = judge_differences(then, workspace.machine(), original.judgement->rule_version);
  replay.reproduction = reproduction_of(original, replay.again);
  return replay;
}

}  // namespace apo
