// harness/evaluate/sentinel.cpp - the sentinel's interval, and the rounds that measure each level's noise.
#include "harness/evaluate/sentinel.h"

#include <chrono>
#include <string>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/counted_rounds.h"
#include "harness/evaluate/rounds/turn.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<double> counted_effects(const std::vector<Round>& rounds) {
  std::vector<double> effects;
  for (const Round& round : rounds) {
    if (round.void_why.empty()) {
      effects.push_back(round.effect);
    }
  }
  return effects;
}

}  // namespace

SentinelResult run_sentinel(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                            int index, const std::vector<double>& earlier_effects, Observer& observer) {
  const auto start = Clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "sentinel", static_cast<std::uint64_t>(index));
  std::vector<TimedWorkload> timed = build_pair(runtime, configuration, configuration, plan, seed, observer);
  const RoundOptions options = round_options(plan, timed);
  RoundRunner runner(runtime, std::move(timed), plan.preset, seed, configuration.label(), plan.cache, options);
  SentinelResult result;
  double waited_s = 0;
  result.rounds = run_rounds(runtime, runner, RoundStage::sentinel, kSentinelRounds, plan.preset, observer,
                             "A/A sentinel " + configuration.label(), waited_s);
  const std::vector<double> effects = counted_effects(result.rounds);
  result.check = check_sentinel(effects, earlier_effects, plan.preset);
  const WalshAverages walsh(effects);
  result.lower = walsh.lower(plan.preset.interval_alpha);
  result.upper = walsh.upper(plan.preset.interval_alpha);
  result.seconds = seconds_since(start) - waited_s;
  return result;
}

std::vector<Round> run_noise_study(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, Observer& observer) {
  const std::uint64_t seed = derive_seed(plan.seed, "noise", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = design.rounds_per_process();
  options.rounds_per_layout = design.rounds_per_layout;
  RoundRunner runner(runtime, build_pair(runtime, configuration, configuration, plan, seed, observer), plan.preset,
                     seed, configuration.label(), plan.cache, options);
  std::vector<Round> rounds;
  const int wanted = processes * design.rounds_per_process();
  for (int round = 0; round < wanted; ++round) {
    observer.progress({.what = "noise of " + configuration.label(), .done = round, .expected = wanted});
    double waited_s = 0;
    auto result = run_in_turn(runtime, runner, RoundStage::noise, round, observer, waited_s);
    if (!result) {
      throw EnvironmentError("the noise of " + configuration.label() +
                             " cannot be measured: " + result.failure().evidence);
    }
    rounds.push_back(*result);
    rounds.back().void_why = void_reason(rounds.back(), {}, plan.preset);
    summarise_round(rounds.back());
  }
  return rounds;
}

}  // namespace apo
