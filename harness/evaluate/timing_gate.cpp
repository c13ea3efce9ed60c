// harness/evaluate/timing_gate.cpp - runs the rounds that the judge asks for, and reports the timing gates.
#include "harness/evaluate/timing_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/judged_rounds.h"
#include "harness/evaluate/rounds/runner.h"

namespace apo {
namespace {

// Returns a name for the coins that no other comparison of the campaign has.
std::string comparison_name(const Experiment& experiment, const std::string& tag) {
  return fmt::format("{} {} {}{}{}", experiment.id, experiment.incumbent.label(), experiment.candidate.label(),
                     tag.empty() ? "" : " ", tag);
}

void keep_round(const Evaluation& evaluation, const Round& round) {
  evaluation.experiment.rounds.push_back(round);
  if (evaluation.hooks.on_round) {
    evaluation.hooks.on_round(round);
  }
}

// Handles a candidate that misbehaves only when it is timed, in two attempts. A failure of the incumbent, a single
// failure and a failure of neither arm are no verdict on the candidate.
void fail_timing(const Evaluation& evaluation, const Judge& judge, const Failure& failure, double seconds) {
  Judgement judgement = judge.judgement();
  const bool candidate = failure.slot == 1;
  judgement.verdict = candidate ? Verdict::reverted : Verdict::inconclusive;
  judgement.reason = candidate ? Reason::gate_failed : Reason::interrupted;
  judgement.sentence =
      fmt::format("{} failed while {} timed: {}, {}",
                  candidate           ? "The candidate"
                  : failure.slot == 0 ? "The incumbent"
                                      : "A round",
                  failure.slot == -1 ? "both were" : "it was", to_string(failure.outcome), failure.evidence);
  add_gate(evaluation,
           {.gate = "timing", .outcome = failure.outcome, .evidence = judgement.sentence, .seconds = seconds});
  evaluation.experiment.judgement = judgement;
}

void pass_timing_gates(const Evaluation& evaluation, const std::string& second_clock, Spent& spent) {
  const std::vector<Round>& rounds = evaluation.experiment.rounds;
  const Judgement& judgement = *evaluation.experiment.judgement;
  const auto count = [&](RoundStage stage) {
    return std::count_if(rounds.begin(), rounds.end(), [&](const Round& round) { return round.stage == stage; });
  };
  if (const auto searched = count(RoundStage::search); searched > 0) {
    add_gate(evaluation, {.gate = "timing",
                          .evidence = fmt::format("{} rounds in {} processes, search estimate {}{}{}", searched,
                                                  processes_of(rounds) < std::ssize(rounds) ? "shared" : "fresh",
                                                  format_percent(judgement.search_effect),
                                                  second_clock.empty() ? "" : "; ", second_clock),
                          .seconds = spent.by_stage[RoundStage::search]});
  }
  if (const auto confirmed = count(RoundStage::confirm); confirmed > 0) {
    const auto looked = count(RoundStage::second_look);
    add_gate(evaluation,
             {.gate = "confirmation",
              .evidence = fmt::format("{} more rounds, {}{}", confirmed,
                                      format_change(judgement.effect, judgement.lower, judgement.upper).all(),
                                      looked > 0 ? fmt::format("; a second look over {} rounds", looked) : ""),
              .seconds = spent.by_stage[RoundStage::confirm] + spent.by_stage[RoundStage::second_look]});
  }
}

}  // namespace

void time_experiment(const Evaluation& evaluation, std::vector<TimedWorkload> timed) {
  const EvaluatePlan& plan = evaluation.plan;
  const RoundOptions options = round_options(plan, timed);
  RoundRunner runner(evaluation.runtime, std::move(timed), plan.preset, plan.seed,
                     comparison_name(evaluation.experiment, plan.comparison_tag), plan.cache, options);
  Judge judge(
      {.preset = plan.preset, .index = plan.index, .cache_policy = plan.cache, .confirm_rounds = plan.confirm_rounds});
  Spent spent;
  const JudgedRounds rounds{
      .source = in_turns(evaluation.runtime, runner, evaluation.observer),
      .what = evaluation.experiment.candidate.label() + " against " + evaluation.experiment.incumbent.label(),
      .preset = plan.preset,
      .observer = evaluation.observer,
      .on_round = [&](const Round& round) { keep_round(evaluation, round); }};
  if (const auto failure = run_judged_rounds(judge, rounds, spent)) {
    fail_timing(evaluation, judge, *failure, spent.seconds);
    return;
  }
  evaluation.experiment.judgement = judge.judgement();
  pass_timing_gates(evaluation, runner.second_clock(), spent);
}

}  // namespace apo
