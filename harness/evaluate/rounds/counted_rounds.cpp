// harness/evaluate/rounds/counted_rounds.cpp - builds both arms and runs rounds until enough of them are valid.
#include "harness/evaluate/rounds/counted_rounds.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/judge/round.h"
#include "kernels/random.h"

namespace apo {

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
    const bool shared = shares_inputs(*runtime.family, workload->axes);
    timed.pool = make_pool(runtime, *workload, shared ? derive_seed(plan.seed, "pool", 0) : seed);
    pairs.push_back(std::move(timed));
  }
  return pairs;
}

std::vector<Round> run_rounds(const RoundSource& source, RoundStage stage, int wanted, const JudgePreset& preset,
                              Observer& observer, const std::string& what, double& waited_s) {
  std::vector<Round> rounds;
  int counted = 0;
  const auto most = static_cast<int>((1 + preset.void_fraction) * wanted);
  const auto start = std::chrono::steady_clock::now();
  for (int index = 0; counted < wanted; ++index) {
    if (index > most) {
      throw EnvironmentError(
          fmt::format("more than {} rounds of the stage '{}' were void: this machine is too noisy to "
                      "judge on",
                      most - wanted, to_string(stage)),
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
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace apo
