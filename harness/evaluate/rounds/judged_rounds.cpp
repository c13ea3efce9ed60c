// harness/evaluate/rounds/judged_rounds.cpp - pauses, takes a round, hands it to the judge, until it has decided.
#include "harness/evaluate/rounds/judged_rounds.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"

namespace apo {
namespace {

void report_round(const JudgedRounds& plan, const Judge& judge, const NextStep& step, double seconds) {
  const auto done = static_cast<int>(judge.rounds().size());
  const int most = plan.preset.looks.back().rounds + plan.preset.confirm_max;
  plan.observer.progress({.what = std::string(to_string(step.stage)) + " " + plan.what,
                          .done = done,
                          .expected = most,
                          .seconds_left = done == 0 ? 0 : seconds / done * std::max(0, most - done)});
}

std::optional<Failure> take_round(const JudgedRounds& plan, Judge& judge, const NextStep& step, Spent& spent) {
  const auto start = std::chrono::steady_clock::now();
  if (step.pause_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(step.pause_s));
  }
  report_round(plan, judge, step, spent.seconds);
  double waited_s = 0;
  auto round = plan.source(step.stage, step.index, waited_s);
  const double seconds = seconds_since(start) - waited_s;
  spent.seconds += seconds;
  spent.by_stage[step.stage] += seconds;
  if (!round) {
    return round.failure();
  }
  plan.on_round(judge.add(*round));
  return std::nullopt;
}

}  // namespace

std::optional<Failure> run_judged_rounds(Judge& judge, const JudgedRounds& plan, Spent& spent) {
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    if (plan.budget_s > 0 && spent.seconds >= plan.budget_s) {
      judge.give_up("the budget of " + format_seconds(plan.budget_s) + " is spent");
      break;
    }
    if (auto failure = take_round(plan, judge, step, spent)) {
      return failure;
    }
  }
  return std::nullopt;
}

}  // namespace apo
