// harness/evaluate/applications/judge_application.cpp - runs whole pairs in drawn order, until one fails.
#include "harness/evaluate/applications/judge_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/applications/application_runner.h"
#include "harness/evaluate/applications/decide_application.h"
#include "harness/evaluate/judge/preset.h"
#include "kernels/random.h"

namespace apo {
namespace {

// The inputs of every step.
struct ApplicationJudging {
  ApplicationComparison& comparison;
  const ApplicationRunner& runner;
  std::uint64_t seed = 0;
  std::shared_ptr<DeviceTurns> turns;
  Observer& observer;
  const ApplicationHooks& hooks;
};

// Returns the number of pairs: every seed at least once.
int pairs_of(const DeclaredApplication& application) {
  return std::max(application.pairs, static_cast<int>(application.seeds.size()));
}

void keep_run(const ApplicationJudging& judging, ApplicationRun run, int pair) {
  run.pair = pair;
  judging.comparison.runs.push_back(std::move(run));
  if (judging.hooks.on_run) {
    judging.hooks.on_run(judging.comparison.runs.back());
  }
}

DeviceTurns::Turn turn_of(const ApplicationJudging& judging) {
  return judging.turns == nullptr ? DeviceTurns::Turn()
                                  : judging.turns->take([&](const std::string& line) { judging.observer.say(line); });
}

// Buffered lines are late in every run; lines that are late because the machine held up their reader are late once.
ApplicationRun run_arm(const ApplicationJudging& judging, ApplicationView view, int arm, std::int64_t seed,
                       Random& random) {
  constexpr int kAttempts = 3;
  ApplicationRun run = judging.runner.run(view, arm, seed, random.next());
  for (int attempt = 1; attempt < kAttempts && run.outcome == Outcome::unstable_clock; ++attempt) {
    judging.observer.say("a run is repeated: " + run.evidence);
    run = judging.runner.run(view, arm, seed, random.next());
  }
  return run;
}

// Makes both runs, even if the first fails: one failure is that dispatch's, two are the application's.
bool run_pair(const ApplicationJudging& judging, ApplicationView view, int pair) {
  const DeviceTurns::Turn turn = turn_of(judging);
  const std::vector<std::int64_t>& seeds = judging.comparison.application.seeds;
  const std::int64_t seed = seeds[static_cast<std::size_t>(pair) % seeds.size()];
  Random random(derive_seed(judging.seed, to_string(view), static_cast<std::uint64_t>(pair)));
  const int first = random.coin() ? 1 : 0;
  bool valid = true;
  for (const int arm : {first, 1 - first}) {
    keep_run(judging, run_arm(judging, view, arm, seed, random), pair);
    valid = valid && judging.comparison.runs.back().outcome == Outcome::valid;
  }
  return valid;
}

// Returns whether all runs ended well.
bool run_pairs(const ApplicationJudging& judging) {
  const std::vector<ApplicationView> views = views_of(judging.comparison.application);
  const int pairs = pairs_of(judging.comparison.application);
  const auto all = pairs * static_cast<int>(views.size());
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  for (const ApplicationView view : views) {
    for (int pair = 0; pair < pairs; ++pair, ++done) {
      judging.observer.progress({.what = "application, " + replace_all(std::string(to_string(view)), "_", " "),
                                 .done = done,
                                 .expected = all,
                                 .seconds_left = done == 0 ? 0 : seconds_since(start) / done * (all - done)});
      if (!run_pair(judging, view, pair)) {
        return false;
      }
    }
  }
  return true;
}

void run_once_more(const ApplicationJudging& judging) {
  if (judging.hooks.on_pairs) {
    const DeviceTurns::Turn turn = turn_of(judging);
    judging.hooks.on_pairs([&](const std::vector<std::string>& variables) {
      return judging.runner.run(ApplicationView::fixed_steps, 0, judging.comparison.application.seeds.front(),
                                judging.seed, variables);
    });
  }
}

void fail_preparation(ApplicationComparison& comparison, const Failure& failure) {
  comparison.outcome = failure.outcome;
  comparison.failed_b = true;
  comparison.verdict = Verdict::reverted;
  comparison.reason = Reason::gate_failed;
  comparison.rule_version = std::string(kRuleVersion);
  comparison.sentence =
      fmt::format("The application failed with B: {}, {}.", to_string(failure.outcome), failure.evidence);
}

}  // namespace

void judge_application(ApplicationComparison& comparison, std::uint64_t seed, std::shared_ptr<DeviceTurns> turns,
                       Observer& observer, const ApplicationHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  const ApplicationRunner runner(comparison.application, comparison.folder, comparison.dispatch);
  if (const auto prepared = runner.prepare(0); !prepared) {
    throw UserError("the application cannot be prepared with A: " + prepared.failure().evidence,
                    "nothing can be compared with it");
  }
  if (hooks.on_begin) {
    hooks.on_begin();
  }
  if (const auto prepared = runner.prepare(1); !prepared) {
    fail_preparation(comparison, prepared.failure());
  } else {
    const ApplicationJudging judging = {comparison, runner, seed, std::move(turns), observer, hooks};
    if (run_pairs(judging)) {
      run_once_more(judging);
    }
    decide(comparison);
  }
  comparison.seconds = seconds_since(start);
  comparison.finished_at = utc_now();
}

}  // namespace apo
