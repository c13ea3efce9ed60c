// harness/evaluate/judge_pair.cpp - pauses, takes a round, hands it to the rule, until that has decided or an arm
// fails.
#include "harness/evaluate/judge_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <ranges>
#include <thread>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"

namespace apo {
namespace {

std::string percent_of(double margin) {
  return format_g(100 * std::expm1(margin), 3) + " %";
}

// The rule of a regression or of a suite, in the form of a Judge.
class RegressionJudge {
 public:
  explicit RegressionJudge(const JudgedPair& pair)
      : rule_(pair.regression.value_or(GateRule())),
        suite_(pair.suite),
        preset_(pair.plan.preset),
        worse_(pair.plan.wording.worse),
        effects_(pair.workloads),
        state_(state_now()) {}

  NextStep next() const {
    return {.finished = state_.finished || !given_up_.empty(),
            .stage = RoundStage::gate,
            .index = static_cast<int>(rounds_.size()),
            .rounds = state_.rounds_wanted};
  }
  const std::vector<Round>& rounds() const { return rounds_; }
  const Round& add(Round round);
  void give_up(const std::string& why) { given_up_ = why; }
  void conclude(PairOutcome& outcome) const;

 private:
  GateState state_now() const;
  std::size_t counted() const { return static_cast<std::size_t>(std::ranges::count(rounds_, "", &Round::void_why)); }
  bool too_many_void() const;

  GateRule rule_;
  const std::optional<SuiteRule>& suite_;
  const JudgePreset& preset_;
  const std::string& worse_;
  std::vector<Round> rounds_;
  std::vector<std::vector<double>> effects_;  // by workload or benchmark, of the rounds that count
  GateState state_;
  std::string given_up_;  // why no answer is given
};

const Round& RegressionJudge::add(Round round) {
  round.void_why = void_reason(round, busy_seconds(rounds_), preset_);
  summarise_round(round);
  rounds_.push_back(std::move(round));
  const Round& added = rounds_.back();
  if (suite_) {
    effects_ = suite_effects(rounds_);
  } else if (added.void_why.empty()) {
    for (std::size_t w = 0; w < effects_.size(); ++w) {
      effects_[w].push_back(added.workloads[w].effect);
    }
  }
  if (too_many_void()) {
    give_up(fmt::format("{} of {} rounds were void: this machine is too noisy to judge on", rounds_.size() - counted(),
                        rounds_.size()));
  }
  state_ = state_now();
  return added;
}

GateState RegressionJudge::state_now() const {
  if (!suite_) {
    return gate_state(rule_, effects_);
  }
  const SuiteState state = suite_state(*suite_, effects_);
  return {.answer = gate_answer(*suite_, state), .finished = state.finished, .rounds_wanted = state.rounds_wanted};
}

bool RegressionJudge::too_many_void() const {
  const auto planned = static_cast<std::ptrdiff_t>(counted()) + state_.rounds_wanted;
  return static_cast<double>(rounds_.size() - counted()) > preset_.void_fraction * static_cast<double>(planned);
}

void RegressionJudge::conclude(PairOutcome& outcome) const {
  if (suite_) {
    outcome.gate = GateVerdict::undecided;
    outcome.judgement.sentence = given_up_;
    return;
  }
  outcome.gate = given_up_.empty() ? verdict_of(state_.answer) : GateVerdict::undecided;
  outcome.state = state_;
  outcome.judgement = regression_judgement(state_, rule_, preset_, rounds_);
  outcome.judgement.sentence =
      given_up_.empty() ? regression_sentence(state_, rule_.margin, worse_, counted()) : given_up_;
}

// Before most of it is paid.
void say_price(const JudgedPair& pair, double round_s, int rounds) {
  constexpr double kWorthSayingS = 60;
  const JudgePreset& preset = pair.plan.preset;
  const int confirming = pair.regression || pair.suite || preset.ranks_only ? 0 : preset.confirm_min;
  if (const double seconds = round_s * (rounds + confirming); seconds > kWorthSayingS) {
    pair.observer.say(
        fmt::format("{}: a round takes {}, and a verdict {} of them: {} at least", pair.what, format_seconds(round_s),
                    confirming == 0 ? fmt::format("{}", rounds) : fmt::format("{} + {}", rounds, confirming),
                    format_seconds(seconds)));
  }
}

// Takes rounds until the rule has finished, at most so many that count; returns the failure of a round.
template <class Rule>
std::optional<Failure> take_rounds(Rule& rule, int most, const JudgedPair& pair, PairOutcome& outcome) {
  for (NextStep step = rule.next(); !step.finished; step = rule.next()) {
    if (pair.budget_s > 0 && outcome.seconds >= pair.budget_s) {
      rule.give_up("the budget of " + format_seconds(pair.budget_s) + " is spent");
      break;
    }
    const auto start = std::chrono::steady_clock::now();
    if (step.pause_s > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(step.pause_s));
    }
    const auto done = static_cast<int>(rule.rounds().size());
    pair.observer.progress({.what = std::string(to_string(step.stage)) + " " + pair.what,
                            .done = done,
                            .expected = most,
                            .seconds_left = done == 0 ? 0 : outcome.seconds / done * std::max(0, most - done)});
    double waited_s = 0;
    auto round = pair.source(step.stage, step.index, waited_s);
    const double seconds = seconds_since(start) - waited_s;
    outcome.seconds += seconds;
    outcome.seconds_of[step.stage] += seconds;
    if (!round) {
      return round.failure();
    }
    pair.on_round(rule.add(*round));
    if (done == 0) {
      say_price(pair, busy_seconds(*round), rule.next().rounds + 1);
    }
  }
  return std::nullopt;
}

// Blames an arm that failed in two attempts. A failure of the incumbent, a single failure and a failure of neither arm
// are no verdict on the candidate.
void blame(const JudgedPair& pair, const Failure& failure, PairOutcome& outcome) {
  const bool candidate = failure.slot == 1;
  const bool nobody = failure.slot == -1;
  outcome.outcome = failure.outcome;
  outcome.wrong = candidate ? failure.wrong : std::nullopt;
  outcome.judgement.verdict = candidate ? Verdict::reverted : Verdict::inconclusive;
  outcome.judgement.reason = candidate ? Reason::gate_failed : Reason::interrupted;
  outcome.judgement.sentence = fmt::format(
      "{} failed while {} timed: {}, {}", nobody ? "A round" : pair.arms.at(static_cast<std::size_t>(failure.slot)),
      nobody ? "both were" : "it was", to_string(failure.outcome), failure.evidence);
  if (outcome.gate) {
    outcome.gate = candidate ? GateVerdict::failed : GateVerdict::undecided;
  }
}

}  // namespace

std::vector<std::vector<double>> suite_effects(const std::vector<Round>& rounds) {
  std::map<std::string, std::size_t> places;  // of the benchmarks, which the first round that counts has in full
  std::vector<std::vector<double>> effects(1);
  for (const Round& round : rounds) {
    if (!round.void_why.empty()) {
      continue;
    }
    const double effect_of_all = effect_of(round.commands.value());
    const std::vector<NamedValue>& values = round.commands->runs.front().values;
    for (const CommandRun& run : round.commands->runs) {
      if (!std::ranges::equal(run.values, values, {}, &NamedValue::name, &NamedValue::name)) {
        throw UserError(fmt::format("the runs of round {} are not of the same benchmarks", round.index),
                        "the timing data are damaged: measure this comparison again");
      }
    }
    if (values.empty()) {
      effects.front().push_back(effect_of_all);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = places.emplace(values[i].name, places.size()).first->second;
      effects.resize(std::max(effects.size(), places.size()));
      const double effect = std::log(round.commands->best(false, i)) - std::log(round.commands->best(true, i));
      effects[place].push_back(round.commands->higher_is_better ? -effect : effect);
    }
  }
  return effects;
}

Judgement untimed(const std::string& sentence) {
  return {.verdict = Verdict::reverted,
          .reason = Reason::gate_failed,
          .sentence = sentence,
          .rule_version = std::string(kRuleVersion)};
}

Judgement regression_judgement(const GateState& state, const GateRule& rule, const JudgePreset& preset,
                               const std::vector<Round>& rounds) {
  Judgement judgement{.lower = -std::numeric_limits<double>::infinity(),
                      .upper = std::numeric_limits<double>::infinity(),
                      .processes = processes_of(rounds),
                      .samples = processes_of(rounds),
                      .alpha = rule.alpha(),
                      .preset = preset.name,
                      .rule_version = std::string(kRuleVersion)};
  if (!state.workloads.empty() && state.workloads.front().rounds > 0) {
    const WorkloadAnswer& answer = state.workloads.front();
    judgement.effect = answer.effect;
    judgement.lower = answer.lower;
    judgement.upper = answer.upper;
    judgement.rounds = answer.rounds;
  }
  return judgement;
}

std::string regression_sentence(const GateState& state, double margin, const std::string& worse, std::size_t rounds) {
  switch (state.answer) {
    case GateAnswer::passed:
      return fmt::format("not {} by more than {}", worse, percent_of(margin));
    case GateAnswer::regressed:
      return fmt::format("{} by more than {}", worse, percent_of(margin));
    case GateAnswer::undecided:
      break;
  }
  // The widest distance from an estimate to its lower bound: a candidate as fast as its baseline would pass with it.
  double resolved = 0;
  for (const WorkloadAnswer& workload : state.workloads) {
    resolved = std::max(resolved, workload.effect - workload.lower);
  }
  return fmt::format("this machine cannot tell with a margin of {}: after {} rounds it resolves {}", percent_of(margin),
                     rounds, percent_of(resolved));
}

JudgePreset recorded_preset(const Judgement& judgement, const std::vector<Round>& rounds) {
  JudgePreset preset = judgement.preset.empty() ? standard_preset() : any_preset_named(judgement.preset);
  preset.minimum_claim = std::isfinite(judgement.minimum_claim) ? judgement.minimum_claim : 0;
  preset.claims_by_rounds = std::ranges::any_of(rounds, counts_long_calls);
  preset.confirm_alpha = judgement.alpha > 0 ? judgement.alpha : preset.confirm_alpha;
  return preset;
}

PairOutcome judge_pair(const JudgedPair& pair) {
  PairOutcome outcome;
  std::optional<Failure> failure;
  if (pair.regression || pair.suite) {
    RegressionJudge judge(pair);
    const std::vector<Look>& looks = pair.suite ? pair.suite->looks : pair.regression->looks;
    failure = take_rounds(judge, looks.back().rounds, pair, outcome);
    judge.conclude(outcome);
  } else {
    Judge judge(pair.plan);
    const JudgePreset& preset = pair.plan.preset;
    failure = take_rounds(judge, preset.looks.back().rounds + preset.confirm_max, pair, outcome);
    outcome.judgement = judge.judgement();
  }
  if (failure) {
    blame(pair, *failure, outcome);
  }
  return outcome;
}

}  // namespace apo
