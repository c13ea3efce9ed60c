// harness/evaluate/counted_rounds.cpp - builds both arms, runs rounds until enough of them are valid, sums them up.
#include "harness/evaluate/counted_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/solo_runs.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAlarmed = "the A/A sentinel alarmed: a second one, of new rounds, decides";

// Builds both arms for the plan's workloads, with inputs; shown as progress. Throws EnvironmentError when one does not
// build.
std::vector<TimedWorkload> build_pair(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& candidate, const EvaluatePlan& plan, std::uint64_t seed,
                                      Observer& observer) {
  std::vector<TimedWorkload> pairs;
  for (const Workload* workload : plan.workloads) {
    TimedWorkload timed{.name = workload->name, .axes = workload->axes};
    observer.progress({.what = "build " + incumbent.label()});
    timed.incumbent = {incumbent, runtime.build(incumbent, workload->axes, false)};
    observer.progress({.what = "build " + candidate.label()});
    timed.candidate = {candidate, runtime.build(candidate, workload->axes, false)};
    for (const TimedArm* arm : {&timed.incumbent, &timed.candidate}) {
      if (arm->build.outcome != Outcome::valid) {
        throw EnvironmentError(arm->configuration.label() + " does not build any more", arm->build.evidence);
      }
    }
    observer.progress({.what = "inputs of " + workload->name});
    const bool shared = !timed.has_host_code() && shares_inputs(*runtime.family, workload->axes);
    timed.pool = make_pool(runtime, *workload, shared ? derive_seed(plan.seed, "pool", 0) : seed);
    pairs.push_back(std::move(timed));
  }
  return pairs;
}

// `wanted` rounds that count; void ones are run again, as far as the preset allows. `what` is shown as progress; waits
// for other processes are added to `waited_s`. Throws EnvironmentError when an arm does not run or too many are void.
std::vector<Round> run_rounds(const RoundSource& source, RoundStage stage, int wanted, const JudgePreset& preset,
                              Observer& observer, const std::string& what, double& waited_s) {
  std::vector<Round> rounds;
  int counted = 0;
  std::string void_why;  // of the last void one
  const auto most = static_cast<int>((1 + preset.void_fraction) * wanted);
  const auto start = std::chrono::steady_clock::now();
  for (int index = 0; counted < wanted; ++index) {
    if (index > most) {
      throw EnvironmentError(
          fmt::format(
              "more than {} rounds of the stage '{}' were void, the last because {}: this machine is too noisy to "
              "judge on",
              most - wanted, to_string(stage), void_why),
          "stop other work on it and run again");
    }
    observer.progress({.what = what,
                       .done = counted,
                       .expected = wanted,
                       .seconds_left = index == 0 ? 0 : seconds_since(start) / index * (wanted - counted)});
    auto result = source(stage, index, waited_s);
    if (!result) {
      throw EnvironmentError(
          fmt::format("the stage '{}' could not run: {}", to_string(stage), result.failure().evidence));
    }
    Round round = *result;
    round.void_why = void_reason(round, busy_seconds(rounds), preset);
    summarise_round(round);
    counted += round.void_why.empty() ? 1 : 0;
    void_why = round.void_why.empty() ? void_why : round.void_why;
    rounds.push_back(std::move(round));
  }
  return rounds;
}

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

namespace {

// The largest of the family's small workloads that the configuration takes; null: it is all of the plan, or there is
// none.
const Workload* smaller_workload(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan) {
  const Workload* largest = nullptr;
  for (const Workload& workload : runtime.family->workloads) {
    const bool is_larger = largest == nullptr || element_count(*runtime.family, workload.axes) >
                                                     element_count(*runtime.family, largest->axes);
    if (is_small(workload) && is_larger && runtime.unsupported(configuration, workload.axes).empty()) {
      largest = &workload;
    }
  }
  return plan.workloads == std::vector{largest} ? nullptr : largest;
}

bool has_long_calls(const Runtime& runtime, RoundRunner& runner, Observer& observer) {
  const DeviceTurns::Turn turn = take_turn(runtime.turns, observer);
  static_cast<void>(runner.plan_windows());  // what fails here fails again in the first round, which says so
  return !std::ranges::all_of(runner.windows(), &WindowPlan::warms_up);
}

}  // namespace

SentinelResult run_sentinel(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                            int index, const std::vector<double>& earlier_effects, Observer& observer) {
  const auto start = Clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "sentinel", static_cast<std::uint64_t>(index));
  std::vector<TimedWorkload> timed = build_pair(runtime, configuration, configuration, plan, seed, observer);
  const RoundOptions options = round_options(plan, timed);
  RoundRunner runner(runtime, std::move(timed), plan.preset, seed, configuration.label(), plan.cache, options);
  const Workload* const smaller = smaller_workload(runtime, configuration, plan);
  if (smaller != nullptr && has_long_calls(runtime, runner, observer)) {
    EvaluatePlan of_smaller = plan;
    of_smaller.workloads = {smaller};
    SentinelResult result = run_sentinel(runtime, configuration, of_smaller, index, earlier_effects, observer);
    result.smaller_workload = smaller->name;
    result.seconds = seconds_since(start);
    return result;
  }
  const double prepared_s = seconds_since(start);
  SentinelResult result =
      run_sentinel(in_turns(runtime, runner, observer), configuration.label(), plan.preset, earlier_effects, observer);
  result.seconds += prepared_s;
  return result;
}

JudgePreset preset_after(const SentinelResult& sentinel, LayoutControl layout) {
  return sentinel.smaller_workload.empty() ? choose_preset(sentinel.check.sd, layout)
                                           : preset_for_unknown_spread(layout);
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

CertificationResult run_certification(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& baseline, double claimed_effect, const EvaluatePlan& plan,
                                      int index, Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "certify", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = 1;  // a published number must not depend on a shared process
  const std::vector<TimedWorkload> pairs = build_pair(runtime, baseline, incumbent, plan, seed, observer);
  SoloRunPlan alone{.coins = {.campaign_seed = seed, .comparison = incumbent.label()},
                    .preset = plan.preset,
                    .cache = plan.cache,
                    .rounds = options,
                    .solo_run_s = plan.solo_run_s};
  CertificationResult result;
  const std::string what =
      fmt::format("certify {} {} against {}", to_string(plan.cache), incumbent.label(), baseline.label());
  double waited_s = 0;
  {
    RoundRunner runner(runtime, pairs, plan.preset, seed, incumbent.label(), plan.cache, options);
    result.rounds = run_rounds(in_turns(runtime, runner, observer), RoundStage::certify, kCertificationRounds,
                               plan.preset, observer, what, waited_s);
    alone.repetitions = runner.repetitions();
    alone.windows = runner.windows();
  }
  std::vector<Round> counted;
  std::copy_if(result.rounds.begin(), result.rounds.end(), std::back_inserter(counted),
               [](const Round& round) { return round.void_why.empty(); });
  result.certification = certify(counted, claimed_effect);
  if (plan.solo_run_s > 0) {
    SoloRunsResult solo_runs = run_solo_runs(runtime, pairs, alone, what + ", each alone", observer, waited_s);
    result.solo_runs = std::move(solo_runs.solo_runs);
    result.certification.clock = solo_runs.clock;
    // Host code may know when it runs alone, and on a host it then sees the same inputs again and again: solo runs may
    // only lower its claim.
    if (any_host_code(pairs) && solo_runs.clock.time_effect > result.certification.effect) {
      result.certification.clock->coupled = false;
    }
  }
  result.certification.incumbent = incumbent;
  result.certification.baseline = baseline;
  result.certification.cache_policy = plan.cache;
  result.certification.seconds = seconds_since(start) - waited_s;
  result.certification.at = utc_now();
  return result;
}

namespace {

std::vector<double> effects_over_baseline(const Runtime& runtime, const Configuration& arm, const EvaluatePlan& plan,
                                          std::uint64_t seed, Observer& observer) {
  const Configuration& baseline = *plan.baseline;
  if (arm == baseline) {
    return std::vector<double>(kBaselineRounds);
  }
  std::vector<TimedWorkload> pairs = build_pair(runtime, baseline, arm, plan, seed, observer);
  const RoundOptions options = round_options(plan, pairs);
  RoundRunner runner(runtime, std::move(pairs), plan.preset, seed, arm.label(), plan.cache, options);
  double waited_s = 0;
  return counted_effects(run_rounds(in_turns(runtime, runner, observer), RoundStage::certify, kBaselineRounds,
                                    plan.preset, observer, arm.label() + " against " + baseline.label(), waited_s));
}

}  // namespace

BaselineClaim hold_against_baseline(const Runtime& runtime, const Experiment& experiment, const EvaluatePlan& plan,
                                    Observer& observer) {
  for (const Workload* workload : plan.workloads) {
    if (const std::string why = runtime.unsupported(*plan.baseline, workload->axes); !why.empty()) {
      throw EnvironmentError(plan.baseline->label() + " does not support " + workload->name + ": " + why);
    }
  }
  const double claimed = experiment.judgement->effect;
  BaselineClaim claim{.holds = false};
  for (int look = 0; look < 2 && !claim.holds; ++look) {
    const std::uint64_t seed =
        derive_seed(derive_seed(plan.seed, "baseline", static_cast<std::uint64_t>(experiment.id)), "look",
                    static_cast<std::uint64_t>(look));
    const auto of = [&](const Configuration& arm) { return effects_over_baseline(runtime, arm, plan, seed, observer); };
    const std::vector<double> candidate = of(experiment.candidate);
    claim = check_baseline_claim(claimed, candidate, of(experiment.incumbent));
  }
  return claim;
}

}  // namespace apo
