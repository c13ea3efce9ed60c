// harness/evaluate/programs/judge_commands.cpp - makes trial runs, the A/A run, then rounds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/gate/suite_decision.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/programs/command_runner.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "harness/evaluate/programs/suite.h"

namespace apo {
namespace {

// Limits of the first run, and of later runs: the time of A, with room for a slower B and a busy machine.
constexpr double kFirstTimeoutS = 600;
constexpr double kLeastTimeoutS = 10;
constexpr double kTimesTheTrial = 20;

Wording wording_of(const ProgramComparison& comparison) {
  const bool time = parse_metric(comparison.commands.metric).is_time();
  return {.better = time ? "faster" : "better", .worse = time ? "slower" : "worse", .runs = comparison.commands.runs};
}

// The inputs of every step.
struct Judging {
  ProgramComparison& comparison;
  std::uint64_t seed = 0;
  const std::shared_ptr<DeviceTurns>& turns;
  Observer& observer;
  const ComparisonHooks& hooks;
  double timeout_s = 0;          // of a run
  WantedBenchmarks wanted = {};  // of a suite
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

Result<FirstRun> try_once(const Judging& judging, Side side) {
  judging.observer.progress({.what = side == Side::a ? "trial of command A" : "trial of command B"});
  return CommandRunner(judging.comparison, judging.timeout_s, judging.seed, "trial").try_once(side);
}

// Of B. The deadline of later runs follows from the trial of A, where none was given.
std::optional<Failure> try_both(Judging& judging) {
  const double asked_s = judging.comparison.commands.timeout_s;
  judging.timeout_s = asked_s > 0 ? asked_s : kFirstTimeoutS;
  const auto a = try_once(judging, Side::a);
  if (!a) {
    blame_a(a.failure());
  }
  judging.timeout_s = asked_s > 0 ? asked_s : std::min(kFirstTimeoutS, kLeastTimeoutS + kTimesTheTrial * a->seconds);
  const auto b = try_once(judging, Side::b);
  if (!b || !is_suite(judging.comparison)) {
    return b ? std::nullopt : std::optional(b.failure());
  }
  CommonBenchmarks common = common_benchmarks(*a, *b, judging.comparison.commands.higher_is_better);
  judging.comparison.figures = std::move(common.figures);
  judging.wanted = std::move(common.wanted);
  return common.of_b;
}

RoundSource source_of(const Judging& judging, const ProgramComparison& asked, const std::string& name) {
  return in_turns(
      judging.turns,
      [runner = CommandRunner(asked, judging.timeout_s, judging.seed, name), &wanted = judging.wanted](
          RoundStage stage, int index) { return runner.round(stage, index, wanted); },
      judging.observer);
}

void keep_round(const Judging& judging, const Round& round) {
  judging.comparison.rounds.push_back(round);
  if (judging.hooks.on_round) {
    judging.hooks.on_round(round);
  }
}

// Where none was asked for, by rounds of A against itself. No layout of code is drawn anew: both programs are what they
// are.
JudgePreset preset_of(const Judging& judging) {
  if (const std::optional<JudgePreset> asked = asked_preset(judging.comparison.commands.judge)) {
    return *asked;
  }
  ProgramComparison same = judging.comparison;
  same.b = same.a;
  same.commands.correct.clear();
  const SentinelResult sentinel =
      run_sentinel(source_of(judging, same, "sentinel"), "of command A", strict_preset(), {}, judging.observer);
  for (const Round& round : sentinel.rounds) {
    keep_round(judging, round);
  }
  check_passed(sentinel.check);
  JudgePreset preset = choose_preset(sentinel.check.sd, LayoutControl::none);
  // A run that lost its CPU for a while is an outlier, which an interval by ranks bears: it forbids no claim.
  const double usual_sd = robust_spread(suite_effects(counted(judging.comparison, RoundStage::sentinel)).front());
  preset.minimum_claim = choose_preset(usual_sd, LayoutControl::none).minimum_claim;
  return preset;
}

PairOutcome judge_rounds(const Judging& judging, const JudgePreset& preset, const std::optional<SuiteRule>& suite,
                         const std::function<void(const Round&)>& on_round) {
  return judge_pair({.source = source_of(judging, judging.comparison, suite ? "gate" : "compare"),
                     .what = "command B against A",
                     .plan = {.preset = preset, .wording = wording_of(judging.comparison)},
                     .suite = suite,
                     .arms = {"Command A", "Command B"},
                     .observer = judging.observer,
                     .on_round = on_round,
                     .budget_s = judging.comparison.commands.budget_s});
}

void compare_both(const Judging& judging) {
  ProgramComparison& comparison = judging.comparison;
  try {
    const JudgePreset preset = preset_of(judging);
    PairOutcome outcome =
        judge_rounds(judging, preset, std::nullopt, [&](const Round& round) { keep_round(judging, round); });
    comparison.outcome = outcome.outcome;
    comparison.judgement = std::move(outcome.judgement);
  } catch (const EnvironmentError& error) {
    comparison.judgement = untimed(error.what());
    comparison.judgement->verdict = Verdict::inconclusive;
    comparison.judgement->reason = Reason::noisy;
    throw;
  }
  const std::vector<Round> confirmed = counted(comparison, RoundStage::confirm);
  note_metric(comparison, confirmed.empty() ? counted(comparison, RoundStage::search) : confirmed);
}

// Looks end as soon as all is decided, so more of them cost only where something is not. Fewer are enough where the
// machine's known noise lets nine in ten benchmarks show what matters.
JudgePreset preset_of_gate(const Judging& judging) {
  if (const std::optional<JudgePreset> asked = asked_preset(judging.comparison.commands.judge)) {
    return *asked;
  }
  constexpr double kWithoutMargin = 0.01;
  const double margin = judging.comparison.margin > 0 ? judging.comparison.margin : kWithoutMargin;
  const JudgePreset standard = standard_preset();
  const Look last = rule_of(judging.comparison, standard).looks.back();
  const auto number = static_cast<double>(judging.wanted.names.size());
  const auto shown = std::ranges::count_if(judging.wanted.names, [&](const std::string& name) {
    const auto sd = judging.hooks.noise.find(name);
    return sd != judging.hooks.noise.end() && detectable_effect(last.rounds, last.alpha / number, sd->second) <= margin;
  });
  return number > 0 && static_cast<double>(shown) >= 0.9 * number ? standard : extended_preset();
}

void gate_both(Judging& judging) {
  ProgramComparison& comparison = judging.comparison;
  const JudgePreset preset = preset_of_gate(judging);
  const SuiteRule rule = rule_of(comparison, preset);
  const WantedBenchmarks all = judging.wanted;
  std::vector<Round> counted;
  const PairOutcome outcome = judge_rounds(judging, preset, rule, [&](const Round& round) {
    keep_round(judging, round);
    if (round.void_why.empty()) {
      counted.push_back(round);
      const bool look = std::ranges::find(rule.looks, std::ssize(counted), &Look::rounds) != rule.looks.end();
      judging.wanted = look ? still_wanted(rule, counted, all) : judging.wanted;
    }
  });
  conclude_gate(comparison, preset, wording_of(comparison).worse, outcome.judgement.sentence);
  comparison.outcome = outcome.outcome;
  if (outcome.outcome != Outcome::valid) {
    comparison.gate = outcome.gate;
    comparison.judgement->verdict = outcome.judgement.verdict;
    comparison.judgement->reason = outcome.judgement.reason;
    comparison.judgement->sentence = outcome.judgement.sentence;
  }
}

Judgement gain_again(const ProgramComparison& comparison) {
  Judge judge({.preset = recorded_preset(*comparison.judgement, comparison.rounds), .wording = wording_of(comparison)});
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

}  // namespace

void judge_commands(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                    Observer& observer, const ComparisonHooks& hooks) {
  Judging judging{comparison, seed, turns, observer, hooks};
  const auto failure_of_b = try_both(judging);
  if (hooks.on_begin) {
    hooks.on_begin();
  }
  if (failure_of_b) {
    fail_b(comparison, *failure_of_b, fmt::format("Not timed: {}.", trial_text("B", *failure_of_b)));
  } else if (comparison.purpose == ComparisonPurpose::gate) {
    gate_both(judging);
  } else {
    compare_both(judging);
  }
}

void judge_rounds_again(ProgramComparison& comparison) {
  if (comparison.gate) {
    conclude_gate(comparison, recorded_preset(*comparison.judgement, comparison.rounds), wording_of(comparison).worse,
                  "");
  } else {
    comparison.judgement = gain_again(comparison);
  }
}

}  // namespace apo
