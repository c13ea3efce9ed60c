// harness/applications/judge_application.cpp - whole pairs in drawn order, until one fails.
#include "harness/applications/judge_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "harness/applications/application_runner.h"
#include "harness/applications/decide_application.h"
#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"
#include "kernels/random.h"

namespace apo {
namespace {

// What every step is given.
struct Running {
  ApplicationComparison& comparison;
  const ApplicationRunner& runner;
  std::uint64_t seed = 0;
  std::shared_ptr<DeviceTurns> turns;
  Observer& observer;
  const ApplicationHooks& hooks;
};

// Every seed at least once.
int pairs_of(const DeclaredApplication& application) {
  return std::max(application.pairs, static_cast<int>(application.seeds.size()));
}

void keep_run(const Running& running, ApplicationRun run, int pair) {
  run.pair = pair;
  running.comparison.runs.push_back(std::move(run));
  if (running.hooks.on_run) {
    running.hooks.on_run(running.comparison.runs.back());
  }
}

DeviceTurns::Turn turn_of(const Running& running) {
  return running.turns == nullptr ? DeviceTurns::Turn()
                                  : running.turns->take([&](const std::string& line) { running.observer.say(line); });
}

// Lines that a program keeps in a buffer are late in every run. Where the machine held up the process that reads them,
// they are not late again.
ApplicationRun run_arm(const Running& running, ApplicationView view, int arm, std::int64_t seed, Random& random) {
  constexpr int kLooks = 3;
  ApplicationRun run = running.runner.run(view, arm, seed, random.next());
  for (int look = 1; look < kLooks && run.outcome == Outcome::unstable_clock; ++look) {
    running.observer.say("a run is repeated: " + run.evidence);
    run = running.runner.run(view, arm, seed, random.next());
  }
  return run;
}

// Both runs, even where the first fails: that of one dispatch is the dispatch's, that of both the application's.
bool run_pair(const Running& running, ApplicationView view, int pair) {
  const DeviceTurns::Turn turn = turn_of(running);
  const std::vector<std::int64_t>& seeds = running.comparison.application.seeds;
  const std::int64_t seed = seeds[static_cast<std::size_t>(pair) % seeds.size()];
  Random random(derive_seed(running.seed, to_string(view), static_cast<std::uint64_t>(pair)));
  const int first = random.coin() ? 1 : 0;
  bool valid = true;
  for (const int arm : {first, 1 - first}) {
    keep_run(running, run_arm(running, view, arm, seed, random), pair);
    valid = valid && running.comparison.runs.back().outcome == Outcome::valid;
  }
  return valid;
}

// Whether all of them ended well.
bool run_pairs(const Running& running) {
  const std::vector<ApplicationView> views = views_of(running.comparison.application);
  const int pairs = pairs_of(running.comparison.application);
  const auto all = pairs * static_cast<int>(views.size());
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  for (const ApplicationView view : views) {
    for (int pair = 0; pair < pairs; ++pair, ++done) {
      running.observer.progress({.what = "application, " + replace_all(std::string(to_string(view)), "_", " "),
                                 .done = done,
                                 .expected = all,
                                 .seconds_left = done == 0 ? 0 : seconds_since(start) / done * (all - done)});
      if (!run_pair(running, view, pair)) {
        return false;
      }
    }
  }
  return true;
}

void run_once_more(const Running& running) {
  if (running.hooks.on_pairs) {
    const DeviceTurns::Turn turn = turn_of(running);
    running.hooks.on_pairs([&](const std::vector<std::string>& variables) {
      return running.runner.run(ApplicationView::fixed_steps, 0, running.comparison.application.seeds.front(),
                                running.seed, variables);
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
    const Running running = {comparison, runner, seed, std::move(turns), observer, hooks};
    if (run_pairs(running)) {
      run_once_more(running);
    }
    decide(comparison);
  }
  comparison.seconds = seconds_since(start);
  comparison.finished_at = utc_now();
}

}  // namespace apo
