// harness/evaluate/commands/judge_commands.cpp - makes trial runs, the A/A run, then rounds.
#include "harness/evaluate/commands/judge_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/commands/command_runner.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

// Limits of the first run, and of later runs: the time of A, with room for a slower B and a busy machine.
constexpr double kFirstTimeoutS = 600;
constexpr double kLeastTimeoutS = 10;
constexpr double kTimesTheTrial = 20;

CommandPair pair_of(const ProgramComparison& comparison) {
  const double timeout_s = comparison.commands.timeout_s > 0 ? comparison.commands.timeout_s : kFirstTimeoutS;
  return {.commands = {comparison.a, comparison.b},
          .folder = comparison.folder,
          .metric = parse_metric(comparison.commands.metric),
          .higher_is_better = comparison.commands.higher_is_better,
          .layout = comparison.commands.layout,
          .runs = comparison.commands.runs,
          .timeout_s = timeout_s,
          .check = comparison.commands.correct,
          .check_timeout_s = std::max(timeout_s, kFirstTimeoutS)};
}

Wording wording_of(const ProgramComparison& comparison) {
  const bool time = parse_metric(comparison.commands.metric).is_time();
  return {.better = time ? "faster" : "better", .worse = time ? "slower" : "worse", .runs = comparison.commands.runs};
}

// The inputs of every step.
struct Judging {
  ProgramComparison& comparison;
  std::uint64_t seed = 0;
  std::shared_ptr<DeviceTurns> turns;
  Observer& observer;
  const CommandHooks& hooks;
};

std::string said(const Failure& failure) {
  return fmt::format("{}, {}", to_string(failure.outcome), failure.evidence);
}

std::string trial_text(const char* command, const Failure& failure) {
  return fmt::format("command {} {}: {}", command,
                     failure.outcome == Outcome::incorrect ? "is wrong" : "gave no result", said(failure));
}

[[noreturn]] void blame_a(const Failure& failure) {
  throw UserError(trial_text("A", failure),
                  failure.outcome == Outcome::no_metric   ? "--metric says what to look for in what it prints"
                  : failure.outcome == Outcome::timed_out ? "--timeout gives each run more time"
                                                          : "nothing can be compared with it");
}

// A check that looks for what it had before would pass for anything.
void check_words(const std::string& check) {
  for (const char* name : {"APO_SIDE", "APO_COMMAND"}) {
    if (check.find(name) != std::string::npos) {
      throw UserError(fmt::format("the check '{}' reads ${}, which is gone: a run could see it as well", check, name),
                      "a check reads what a run printed on its input, and what it wrote in $APO_OUTPUT; $1 is a or b, "
                      "$2 the command");
    }
  }
}

// Of B. The deadline of later runs follows from the trial of A, where none was given.
std::optional<Failure> try_both(const Judging& judging, CommandPair& pair) {
  const CommandRunner runner(pair, {.campaign_seed = judging.seed, .comparison = "trial"});
  judging.observer.progress({.what = "trial of command A"});
  const auto a_seconds = runner.try_once(Side::a);
  if (!a_seconds) {
    blame_a(a_seconds.failure());
  }
  if (judging.comparison.commands.timeout_s <= 0) {
    pair.timeout_s = std::min(kFirstTimeoutS, kLeastTimeoutS + kTimesTheTrial * *a_seconds);
  }
  judging.observer.progress({.what = "trial of command B"});
  const CommandRunner timed(pair, {.campaign_seed = judging.seed, .comparison = "trial"});
  const auto b = timed.try_once(Side::b);
  return b ? std::nullopt : std::optional(b.failure());
}

RoundSource source_of(const Judging& judging, const CommandPair& pair, const std::string& name) {
  const CommandRunner runner(pair, {.campaign_seed = judging.seed, .comparison = name});
  return in_turns(
      judging.turns, [runner](RoundStage stage, int index) { return runner.round(stage, index); }, judging.observer);
}

void keep_round(const Judging& judging, const Round& round) {
  judging.comparison.rounds.push_back(round);
  if (judging.hooks.on_round) {
    judging.hooks.on_round(round);
  }
}

std::vector<double> effects_of(const ProgramComparison& comparison, RoundStage stage) {
  std::vector<double> effects;
  for (const Round& round : comparison.rounds) {
    if (round.stage == stage && round.void_why.empty()) {
      effects.push_back(effect_of(round.commands.value()));
    }
  }
  return effects;
}

// Where none was asked for, by rounds of A against itself. No layout of code is drawn anew: both programs are what they
// are.
JudgePreset preset_of(const Judging& judging, const CommandPair& pair) {
  if (const std::optional<JudgePreset> asked = asked_preset(judging.comparison.commands.judge)) {
    return *asked;
  }
  CommandPair same = pair;
  same.commands[1] = same.commands[0];
  same.check.clear();
  const SentinelResult sentinel =
      run_sentinel(source_of(judging, same, "sentinel"), "of command A", strict_preset(), {}, judging.observer);
  for (const Round& round : sentinel.rounds) {
    keep_round(judging, round);
  }
  check_passed(sentinel.check);
  JudgePreset preset = choose_preset(sentinel.check.sd, LayoutControl::none);
  // A run that lost its CPU for a while is an outlier, which an interval by ranks bears: it forbids no claim.
  const double usual_sd = robust_spread(effects_of(judging.comparison, RoundStage::sentinel));
  preset.minimum_claim = choose_preset(usual_sd, LayoutControl::none).minimum_claim;
  return preset;
}

// Over the rounds that the effect is of.
void note_figure(ProgramComparison& comparison) {
  const Judgement& judgement = *comparison.judgement;
  const auto values = [&](RoundStage stage, bool of_candidate) {
    std::vector<double> found;
    for (const Round& round : comparison.rounds) {
      if (round.stage == stage && round.void_why.empty() && round.commands) {
        found.push_back(round.commands->best(of_candidate));
      }
    }
    return found;
  };
  for (const RoundStage stage : {RoundStage::confirm, RoundStage::search, RoundStage::gate}) {
    if (const auto a = values(stage, false); !a.empty() && judgement.rounds > 0) {
      comparison.figures = {{.view = ComparisonView::rounds,
                             .metric = comparison.commands.metric,
                             .unit = parse_metric(comparison.commands.metric).is_time() ? "s" : "",
                             .value_a = median(a),
                             .value_b = median(values(stage, true)),
                             .change = judgement.speedup(),
                             .lower = judgement.speedup_lower(),
                             .upper = judgement.speedup_upper(),
                             .confidence = comparison.gate ? 0 : judgement.confidence,
                             .count = judgement.rounds}};
      return;
    }
  }
}

void fail_b(ProgramComparison& comparison, const Failure& failure, const std::string& sentence) {
  comparison.outcome = failure.outcome;
  comparison.judgement = untimed(sentence);
  if (comparison.purpose == ComparisonPurpose::gate) {
    comparison.gate = GateVerdict::failed;
  }
}

void time_both(const Judging& judging, const CommandPair& pair) {
  ProgramComparison& comparison = judging.comparison;
  const bool gate = comparison.purpose == ComparisonPurpose::gate;
  try {
    const JudgePreset preset = preset_of(judging, pair);
    PairOutcome outcome =
        judge_pair({.source = source_of(judging, pair, gate ? "gate" : "compare"),
                    .what = "command B against A",
                    .plan = {.preset = preset, .wording = wording_of(comparison)},
                    .regression = gate ? std::optional(GateRule{.margin = comparison.margin, .looks = preset.looks})
                                       : std::nullopt,
                    .arms = {"Command A", "Command B"},
                    .observer = judging.observer,
                    .on_round = [&](const Round& round) { keep_round(judging, round); },
                    .budget_s = comparison.commands.budget_s});
    comparison.outcome = outcome.outcome;
    comparison.judgement = std::move(outcome.judgement);
    comparison.gate = outcome.gate;
  } catch (const EnvironmentError& error) {
    comparison.judgement = untimed(error.what());
    comparison.judgement->verdict = Verdict::inconclusive;
    comparison.judgement->reason = Reason::noisy;
    if (gate) {
      comparison.gate = GateVerdict::undecided;
      return;
    }
    throw;
  }
}

Judgement gain_again(const ProgramComparison& comparison) {
  Judge judge({.preset = recorded_preset(*comparison.judgement), .wording = wording_of(comparison)});
  for (const Round& round : comparison.rounds) {
    if (round.stage == RoundStage::search || round.stage == RoundStage::confirm) {
      judge.add(round);
    }
  }
  if (!judge.next().finished) {
    judge.give_up("");
  }
  return judge.judgement();
}

GateRule rule_of(const ProgramComparison& comparison) {
  return {.margin = comparison.margin, .looks = recorded_preset(*comparison.judgement).looks};
}

Judgement regression_again(const ProgramComparison& comparison) {
  return regression_judgement(recorded_state(comparison), rule_of(comparison), recorded_preset(*comparison.judgement),
                              {});
}

}  // namespace

void judge_commands(ProgramComparison& comparison, std::uint64_t seed, std::shared_ptr<DeviceTurns> turns,
                    Observer& observer, const CommandHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  const Judging judging{comparison, seed, std::move(turns), observer, hooks};
  check_words(comparison.commands.correct);
  CommandPair pair = pair_of(comparison);
  const auto failure_of_b = try_both(judging, pair);
  if (hooks.on_begin) {
    hooks.on_begin();
  }
  if (failure_of_b) {
    fail_b(comparison, *failure_of_b, fmt::format("Not timed: {}.", trial_text("B", *failure_of_b)));
  } else {
    time_both(judging, pair);
    note_figure(comparison);
  }
  comparison.judgement->seconds = seconds_since(start);
  comparison.judgement->cache_policy.reset();  // the caches are the commands' own affair
  comparison.finished_at = utc_now();
}

GateState recorded_state(const ProgramComparison& comparison) {
  return gate_state(rule_of(comparison), {effects_of(comparison, RoundStage::gate)});
}

Judgement judged_again(const ProgramComparison& comparison) {
  return comparison.gate ? regression_again(comparison) : gain_again(comparison);
}

}  // namespace apo
