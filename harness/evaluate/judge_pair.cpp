// harness/evaluate/judge_pair.cpp - pauses, takes a round, hands it to the rule, until that has decided or an arm
// fails.
#include "harness/evaluate/judge_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"

namespace apo {
namespace {

std::string percent_of(double margin) {
  return format_g(100 * std::expm1(margin), 3) + " %";
}

// The rule of a regression, in the form of a Judge.
class RegressionJudge {
 public:
  explicit RegressionJudge(const JudgedPair& pair)
      : rule_(*pair.regression),
        preset_(pair.plan.preset),
        worse_(pair.plan.wording.worse),
        effects_(pair.workloads),
        state_(gate_state(rule_, effects_)) {}

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
  std::size_t counted() const { return effects_.front().size(); }
  bool too_many_void() const;
  std::string sentence() const;

  const GateRule& rule_;
  const JudgePreset& preset_;
  const std::string& worse_;
  std::vector<Round> rounds_;
  std::vector<std::vector<double>> effects_;  // by workload, of the rounds that count
  GateState state_;
  std::string given_up_;  // why no answer is given
};

const Round& RegressionJudge::add(Round round) {
  round.void_why = void_reason(round, busy_seconds(rounds_), preset_);
  summarise_round(round);
  if (round.void_why.empty()) {
    for (std::size_t w = 0; w < effects_.size(); ++w) {
      effects_[w].push_back(round.commands ? round.effect : round.workloads[w].effect);
    }
  }
  rounds_.push_back(std::move(round));
  if (too_many_void()) {
    give_up(fmt::format("{} of {} rounds were void: this machine is too noisy to judge on", rounds_.size() - counted(),
                        rounds_.size()));
  }
  state_ = gate_state(rule_, effects_);
  return rounds_.back();
}

bool RegressionJudge::too_many_void() const {
  const auto planned = std::ssize(effects_.front()) + state_.rounds_wanted;
  return static_cast<double>(rounds_.size() - counted()) > preset_.void_fraction * static_cast<double>(planned);
}

std::string RegressionJudge::sentence() const {
  const std::string margin = percent_of(rule_.margin);
  switch (state_.answer) {
    case GateAnswer::passed:
      return fmt::format("not {} by more than {}", worse_, margin);
    case GateAnswer::regressed:
      return fmt::format("{} by more than {}", worse_, margin);
    case GateAnswer::undecided:
      break;
  }
  // The widest distance from an estimate to its lower bound: a candidate as fast as its baseline would pass with it.
  double resolved = 0;
  for (const WorkloadAnswer& workload : state_.workloads) {
    resolved = std::max(resolved, workload.effect - workload.lower);
  }
  return fmt::format("this machine cannot tell with a margin of {}: after {} rounds it resolves {}", margin, counted(),
                     percent_of(resolved));
}

void RegressionJudge::conclude(PairOutcome& outcome) const {
  const GateAnswer answer = given_up_.empty() ? state_.answer : GateAnswer::undecided;
  outcome.gate = answer == GateAnswer::passed      ? GateVerdict::passed
                 : answer == GateAnswer::regressed ? GateVerdict::regressed
                                                   : GateVerdict::undecided;
  outcome.state = state_;
  outcome.judgement = regression_judgement(state_, rule_, preset_, rounds_);
  outcome.judgement.sentence = given_up_.empty() ? sentence() : given_up_;
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

JudgePreset recorded_preset(const Judgement& judgement) {
  JudgePreset preset = judgement.preset.empty() ? standard_preset() : any_preset_named(judgement.preset);
  preset.minimum_claim = std::isfinite(judgement.minimum_claim) ? judgement.minimum_claim : 0;
  preset.confirm_alpha = judgement.alpha > 0 ? judgement.alpha : preset.confirm_alpha;
  return preset;
}

PairOutcome judge_pair(const JudgedPair& pair) {
  PairOutcome outcome;
  std::optional<Failure> failure;
  if (pair.regression) {
    RegressionJudge judge(pair);
    failure = take_rounds(judge, pair.regression->looks.back().rounds, pair, outcome);
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
