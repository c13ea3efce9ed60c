// harness/evaluate/sentinel.cpp - the sentinel's interval, and the rounds that measure each level's noise.
#include "harness/evaluate/sentinel.h"

#include <chrono>
#include <string>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/counted_rounds.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAlarmed = "the A/A sentinel alarmed: a second one, of new rounds, decides";

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

SentinelResult run_sentinel(const RoundSource& source, const std::string& label, const JudgePreset& preset,
                            const std::vector<double>& earlier_effects, Observer& observer) {
  const auto start = Clock::now();
  SentinelResult result;
  double waited_s = 0;
  const auto look = [&] {
    const auto earlier_rounds = static_cast<int>(result.rounds.size());
    const RoundSource next = [&](RoundStage stage, int round, double& waited) {
      return source(stage, earlier_rounds + round, waited);
    };
    const std::vector<Round> rounds =
        run_rounds(next, RoundStage::sentinel, kSentinelRounds, preset, observer, "A/A sentinel " + label, waited_s);
    result.rounds.insert(result.rounds.end(), rounds.begin(), rounds.end());
    result.check = check_sentinel(counted_effects(rounds), earlier_effects, preset);
  };
  look();
  if (result.check.stop) {
    for (Round& round : result.rounds) {
      round.void_why = round.void_why.empty() ? kAlarmed : round.void_why;
    }
    look();
  }
  const std::vector<double> effects = counted_effects(result.rounds);
  const WalshAverages walsh(effects);
  result.lower = walsh.lower(preset.interval_alpha);
  result.upper = walsh.upper(preset.interval_alpha);
  result.seconds = seconds_since(start) - waited_s;
  return result;
}

SentinelResult run_sentinel(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                            int index, const std::vector<double>& earlier_effects, Observer& observer) {
  const auto start = Clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "sentinel", static_cast<std::uint64_t>(index));
  std::vector<TimedWorkload> timed = build_pair(runtime, configuration, configuration, plan, seed, observer);
  const RoundOptions options = round_options(plan, timed);
  RoundRunner runner(runtime, std::move(timed), plan.preset, seed, configuration.label(), plan.cache, options);
  const double prepared_s = seconds_since(start);
  SentinelResult result =
      run_sentinel(in_turns(runtime, runner, observer), configuration.label(), plan.preset, earlier_effects, observer);
  result.seconds += prepared_s;
  return result;
}

void check_passed(const SentinelCheck& check) {
  if (check.stop) {
    throw SentinelAlarm("the A/A sentinel failed: " + check.why,
                        "identical code must not differ; stop other work on this machine and run again");
  }
}

std::vector<Round> run_noise_study(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, Observer& observer) {
  const std::uint64_t seed = derive_seed(plan.seed, "noise", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = design.rounds_per_process();
  options.rounds_per_layout = design.rounds_per_layout;
  RoundRunner runner(runtime, build_pair(runtime, configuration, configuration, plan, seed, observer), plan.preset,
                     seed, configuration.label(), plan.cache, options);
  const RoundSource source = in_turns(runtime, runner, observer);
  std::vector<Round> rounds;
  const int wanted = processes * design.rounds_per_process();
  for (int round = 0; round < wanted; ++round) {
    observer.progress({.what = "noise of " + configuration.label(), .done = round, .expected = wanted});
    double waited_s = 0;
    auto result = source(RoundStage::noise, round, waited_s);
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
