// harness/evaluate/applications/judge_application.cpp - whole pairs in drawn order, until one fails.
#include "harness/evaluate/applications/judge_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/applications/application_runner.h"
#include "harness/evaluate/applications/decide_application.h"
#include "harness/evaluate/applications/step_lines.h"
#include "harness/evaluate/judge/preset.h"
#include "kernels/random.h"

namespace apo {
namespace {

// What every step is given.
struct Running {
  ApplicationComparison& comparison;
  ApplicationRunner& runner;
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
  if (const int declared = running.comparison.application.steps;
      running.runner.steps() > declared && run.outcome == Outcome::no_metric) {
    run.evidence += fmt::format(
        "; the declared {} steps are too short here to be timed by their lines: let the "
        "program do as many as APO_STEPS says, or longer ones",
        declared);
  }
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

// Hands on each run as it ends. Both run, even where the first fails: that of one dispatch is the dispatch's, that of
// both the application's.
void run_both(const Running& running, ApplicationView view, int pair, const std::function<void(ApplicationRun)>& then) {
  const std::vector<std::int64_t>& seeds = running.comparison.application.seeds;
  const std::int64_t seed = seeds[static_cast<std::size_t>(pair) % seeds.size()];
  Random random(derive_seed(running.seed, to_string(view), static_cast<std::uint64_t>(pair)));
  const int first = random.coin() ? 1 : 0;
  for (const int arm : {first, 1 - first}) {
    then(run_arm(running, view, arm, seed, random));
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
std::vector<ApplicationRun> run_first_pair(const Running& running) {
  for (;;) {
    std::vector<ApplicationRun> runs;
    run_both(running, ApplicationView::fixed_steps, 0, [&](ApplicationRun run) { runs.push_back(std::move(run)); });
    const int now = running.runner.steps();
    const int enough = enough_steps(runs, now);
    if (enough == now) {
      return runs;
    }
    running.observer.say(fmt::format("{} steps are too short to be timed here: every run does {}", now, enough));
    running.runner.set_steps(enough);
  }
}

// Whether both ended well.
bool run_pair(const Running& running, ApplicationView view, int pair) {
  const DeviceTurns::Turn turn = turn_of(running);
  bool valid = true;
  const auto keep = [&](ApplicationRun run) {
    valid = valid && run.outcome == Outcome::valid;
    keep_run(running, std::move(run), pair);
  };
  if (view == ApplicationView::fixed_steps && pair == 0) {
    for (ApplicationRun& run : run_first_pair(running)) {
      keep(std::move(run));
    }
  } else {
    run_both(running, view, pair, keep);
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
  ApplicationRunner runner(comparison.application, comparison.folder, comparison.dispatch);
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
