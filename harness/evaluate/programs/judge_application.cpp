// harness/evaluate/programs/judge_application.cpp - runs whole pairs in drawn order, until one fails.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/programs/application_runner.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "harness/evaluate/programs/step_lines.h"
#include "harness/evaluate/rounds/round_source.h"
#include "kernels/random.h"

namespace apo {
namespace {

// The inputs of every step.
struct ApplicationJudging {
  ProgramComparison& comparison;
  ApplicationRunner& runner;
  std::uint64_t seed = 0;
  const std::shared_ptr<DeviceTurns>& turns;
  Observer& observer;
  const ComparisonHooks& hooks;
};

// Returns the number of pairs: every seed at least once.
int pairs_of(const DeclaredApplication& application) {
  return std::max(application.pairs, static_cast<int>(application.seeds.size()));
}

void keep_run(const ApplicationJudging& judging, ApplicationRun run, int pair) {
  run.pair = pair;
  if (const int declared = judging.comparison.application.steps;
      judging.runner.steps() > declared && run.outcome == Outcome::no_metric) {
    run.evidence += fmt::format(
        "; the declared {} steps are too short here to be timed by their lines: let the "
        "program do as many as APO_STEPS says, or longer ones",
        declared);
  }
  judging.comparison.runs.push_back(std::move(run));
  if (judging.hooks.on_run) {
    judging.hooks.on_run(judging.comparison.runs.back());
  }
}

// Buffered lines are late in every run; lines that are late because the machine held up their reader are late once.
ApplicationRun run_side(const ApplicationJudging& judging, Side side, std::int64_t seed, Random& random) {
  constexpr int kAttempts = 3;
  ApplicationRun run = judging.runner.run(side, seed, random.next());
  for (int attempt = 1; attempt < kAttempts && run.outcome == Outcome::unstable_clock; ++attempt) {
    judging.observer.say("a run is repeated: " + run.evidence);
    run = judging.runner.run(side, seed, random.next());
  }
  return run;
}

// Hands on each run as it ends. Both run, even where the first fails: that of one dispatch is the dispatch's, that of
// both the application's.
void run_both(const ApplicationJudging& judging, int pair, const std::function<void(ApplicationRun)>& then) {
  const std::vector<std::int64_t>& seeds = judging.comparison.application.seeds;
  const std::int64_t seed = seeds[static_cast<std::size_t>(pair) % seeds.size()];
  Random random(derive_seed(judging.seed, "pair", static_cast<std::uint64_t>(pair)));
  const bool b_first = random.coin();
  for (const Side side : {b_first ? Side::b : Side::a, b_first ? Side::a : Side::b}) {
    then(run_side(judging, side, seed, random));
  }
}

// As many as now, or as many as take long enough to be timed by their lines: five times what voids a run, since the
// machine may get faster under way.
int enough_steps(const std::vector<ApplicationRun>& runs, int steps) {
  constexpr double kLongEnoughS = 5 * kShortestRunS;
  constexpr double kAimS = 2 * kLongEnoughS;
  constexpr int kMostTimes = 16;
  constexpr int kMost = 100'000'000;
  double shortest = kLongEnoughS;
  for (const ApplicationRun& run : runs) {
    shortest = run.steps > 0 ? std::min(shortest, run.seconds) : shortest;
  }
  if (shortest >= kLongEnoughS || steps > kMost / kMostTimes) {
    return steps;
  }
  return static_cast<int>(std::ceil(steps * std::min<double>(kMostTimes, kAimS / shortest)));
}

// How long a step takes is a matter of the machine: the first pair is repeated until its steps are enough.
std::vector<ApplicationRun> run_first_pair(const ApplicationJudging& judging) {
  for (;;) {
    std::vector<ApplicationRun> runs;
    run_both(judging, 0, [&](ApplicationRun run) { runs.push_back(std::move(run)); });
    const int now = judging.runner.steps();
    const int enough = enough_steps(runs, now);
    if (enough == now) {
      return runs;
    }
    judging.observer.say(fmt::format("{} steps are too short to be timed here: every run does {}", now, enough));
    judging.runner.set_steps(enough);
  }
}

// Whether both ended well.
bool run_pair(const ApplicationJudging& judging, int pair) {
  const DeviceTurns::Turn turn = take_turn(judging.turns, judging.observer);
  bool valid = true;
  const auto keep = [&](ApplicationRun run) {
    valid = valid && run.outcome == Outcome::valid;
    keep_run(judging, std::move(run), pair);
  };
  if (pair == 0) {
    for (ApplicationRun& run : run_first_pair(judging)) {
      keep(std::move(run));
    }
  } else {
    run_both(judging, pair, keep);
  }
  return valid;
}

void run_pairs(const ApplicationJudging& judging) {
  const int pairs = pairs_of(judging.comparison.application);
  const auto start = std::chrono::steady_clock::now();
  for (int pair = 0; pair < pairs; ++pair) {
    judging.observer.progress({.what = "application",
                               .done = pair,
                               .expected = pairs,
                               .seconds_left = pair == 0 ? 0 : seconds_since(start) / pair * (pairs - pair)});
    if (!run_pair(judging, pair)) {
      return;
    }
  }
}

}  // namespace

void judge_application(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                       Observer& observer, const ComparisonHooks& hooks) {
  ApplicationRunner runner(comparison);
  if (const auto failure = runner.prepare(Side::a)) {
    throw UserError("the application cannot be prepared with A: " + failure->evidence,
                    "nothing can be compared with it");
  }
  if (hooks.on_begin) {
    hooks.on_begin();
  }
  if (const auto failure = runner.prepare(Side::b)) {
    fail_b(comparison, *failure,
           fmt::format("The application failed with B: {}, {}.", to_string(failure->outcome), failure->evidence));
    comparison.failed = FailedSide::b;
    return;
  }
  const ApplicationJudging judging = {comparison, runner, seed, turns, observer, hooks};
  run_pairs(judging);
  judge_runs(comparison);
}

}  // namespace apo
