// tests/evaluate/judge/suite_decision_test.cpp - the error budget of a suite, over drawn suites, and what it finds.
#include "harness/evaluate/judge/gate/suite_decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

using SuiteEffects = std::vector<std::vector<double>>;

SuiteRule suite_of(double alpha = 0.01, double margin = 0) {
  return suite_rule(margin, standard_preset().looks, alpha);
}

int number_of(const SuiteState& state, QualityFinding finding) {
  return static_cast<int>(std::ranges::count(state.benchmarks, finding, &BenchmarkState::finding));
}

// Rounds of two identical programs on a bad machine: A and B drift, every benchmark has outliers, and its level jumps.
// One coin says which run was whose; nothing else is random about the difference's sign.
SuiteEffects identical_programs(std::size_t benchmarks, std::uint64_t seed) {
  SuiteEffects effects(benchmarks);
  Random random(seed);
  for (int round = 0; round < suite_of().looks.back().rounds; ++round) {
    const double sign = random.coin() ? 1 : -1;
    const double order = 0.01 * (1 + 0.1 * round) + 0.01 * random.normal();  // the second run is slower, all of it
    for (std::vector<double>& one : effects) {
      const double outlier = random.below(10) == 0 ? 0.2 * random.uniform() : 0;
      one.push_back(sign * (order + 0.02 * random.normal() + outlier));
    }
  }
  return effects;
}

SuiteEffects normal_suite(const std::vector<double>& centres, double sd, std::uint64_t seed) {
  SuiteEffects effects(centres.size());
  Random random(seed);
  for (std::size_t b = 0; b < centres.size(); ++b) {
    for (int round = 0; round < suite_of().looks.back().rounds; ++round) {
      effects[b].push_back(centres[b] + sd * random.normal());
    }
  }
  return effects;
}

// Three standard deviations above the expected number: a seeded simulation says yes or no, always the same.
int most_false(double alpha, int suites) {
  return static_cast<int>(alpha * suites + 3 * std::sqrt(alpha * (1 - alpha) * suites));
}

TEST(SuiteDecision, IdenticalProgramsAreRedInAlphaOfAllSuitesAtMostWhateverDriftsAndDepends) {
  constexpr int kSuites = 2000;
  constexpr double kAlpha = 0.05;
  int dependent = 0;
  int independent = 0;
  for (int suite = 0; suite < kSuites; ++suite) {
    const auto seed = derive_seed(1, "suite", static_cast<std::uint64_t>(suite));
    dependent +=
        number_of(suite_state(suite_of(kAlpha), identical_programs(10, seed)), QualityFinding::worse) > 0 ? 1 : 0;
    const SuiteState state = suite_state(suite_of(kAlpha), normal_suite(std::vector<double>(10, 0.0), 0.02, seed));
    independent += number_of(state, QualityFinding::worse) > 0 ? 1 : 0;
  }
  EXPECT_LE(dependent, most_false(kAlpha, kSuites));
  EXPECT_LE(independent, most_false(kAlpha, kSuites));
  EXPECT_GT(independent, 0);  // the budget is used
}

TEST(SuiteDecision, TrueSlowdownsDoNotMakeFalseOnesMoreFrequent) {
  constexpr int kSuites = 2000;
  constexpr double kAlpha = 0.05;
  int wrong = 0;
  for (int suite = 0; suite < kSuites; ++suite) {
    const std::vector<double> centres = {0, -0.05, 0, -0.05, 0, -0.05, 0, -0.05};
    const SuiteState state = suite_state(
        suite_of(kAlpha), normal_suite(centres, 0.02, derive_seed(2, "suite", static_cast<std::uint64_t>(suite))));
    bool any = false;
    for (std::size_t b = 0; b < centres.size(); ++b) {
      any = any || (centres[b] == 0 && state.benchmarks[b].finding == QualityFinding::worse);
    }
    wrong += any ? 1 : 0;
  }
  EXPECT_LE(wrong, most_false(kAlpha, kSuites));
}

TEST(SuiteDecision, PlantedChangesAreFoundAndNothingElse) {
  std::vector<double> centres(60, 0.0);
  for (std::size_t i = 0; i < 5; ++i) {
    centres[i * 12] = std::vector{-0.01, -0.02, -0.05, 0.03, -0.02}[i];
  }
  for (std::uint64_t suite = 0; suite < 10; ++suite) {
    const SuiteState state = suite_state(suite_of(), normal_suite(centres, 0.005, suite));
    for (std::size_t b = 0; b < centres.size(); ++b) {
      const QualityFinding finding = state.benchmarks[b].finding;
      EXPECT_EQ(finding == QualityFinding::worse, centres[b] < 0) << b;
      EXPECT_EQ(finding == QualityFinding::better, centres[b] > 0) << b;
    }
    EXPECT_EQ(gate_answer(suite_of(), state), GateAnswer::regressed);
  }
}

TEST(SuiteDecision, TheIntervalOfTheGeometricMeanHoldsTheTruthAsOftenAsItSays) {
  constexpr int kSuites = 2000;
  const Look look = suite_of().looks.back();
  int missed = 0;
  for (int suite = 0; suite < kSuites; ++suite) {
    const auto seed = derive_seed(4, "mean", static_cast<std::uint64_t>(suite));
    const BenchmarkState mean = geometric_mean_of(suite_of(), normal_suite({-0.01, 0.02, 0}, 0.005, seed));
    EXPECT_EQ(mean.rounds, look.rounds);
    missed += mean.lower > 0.01 / 3 || mean.upper < 0.01 / 3 ? 1 : 0;
  }
  EXPECT_LE(missed, most_false(2 * look.alpha, kSuites));
}

TEST(SuiteDecision, TheSaidPowerIsThatOfTheRule) {
  constexpr int kCases = 400;
  const Look look = suite_of().looks.back();
  const double level = look.alpha / 60;
  const double effect = detectable_effect(look.rounds, level, 0.02);
  int found = 0;
  for (int i = 0; i < kCases; ++i) {
    const SuiteEffects effects = normal_suite({-effect}, 0.02, derive_seed(3, "power", static_cast<std::uint64_t>(i)));
    found += WalshAverages(effects.front()).upper(level) < 0 ? 1 : 0;
  }
  EXPECT_GE(found, 0.91 * kCases);
  EXPECT_LE(found, 0.99 * kCases);
  EXPECT_TRUE(std::isinf(detectable_effect(14, level / 2, 0.02)));  // fourteen signs are not that rare
  EXPECT_TRUE(std::isinf(detectable_effect(0, level, 0.02)));
  EXPECT_EQ(detectable_effect(38, level, 0), 0);
}

TEST(SuiteDecision, OneBenchmarkIsJudgedAsOneWorkloadOfAGate) {
  const GateRule gate{.margin = 0.02, .looks = standard_preset().looks};
  const SuiteRule suite{.margin = 0.02, .looks = gate.looks};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SuiteEffects effects = normal_suite({-0.04 + 0.0002 * static_cast<double>(seed)}, 0.015, seed);
    const WorkloadAnswer then = gate_state(gate, effects).workloads.front();
    const SuiteState state = suite_state(suite, effects);
    EXPECT_EQ(gate_answer(suite, state), then.answer) << seed;
    EXPECT_EQ(state.benchmarks.front().rounds, then.rounds) << seed;
    EXPECT_EQ(state.benchmarks.front().lower, then.lower) << seed;
    EXPECT_EQ(state.benchmarks.front().upper, then.upper) << seed;
  }
}

TEST(SuiteDecision, ARejectedBenchmarkLeavesItsShareToTheOthers) {
  const SuiteRule one_look = {.looks = {{14, 0.01}}};
  std::vector<double> clear(14);
  std::vector<double> weak(14);
  for (int i = 0; i < 14; ++i) {
    clear[static_cast<std::size_t>(i)] = -0.05 - 0.001 * i;
    weak[static_cast<std::size_t>(i)] = i < 3 ? 0.001 * (i + 1) : -0.01 - 0.001 * i;  // W+ = 6
  }
  const double p = signed_rank_tail(14, 105 - 6);
  ASSERT_GT(p, 0.01 / 30);
  ASSERT_LT(p, 0.01 / 2);
  SuiteEffects effects(30, clear);
  effects.back() = weak;
  EXPECT_EQ(number_of(suite_state(one_look, effects), QualityFinding::worse), 30);
  effects = SuiteEffects(30, std::vector<double>(14, 0.0));
  effects.back() = weak;
  EXPECT_EQ(number_of(suite_state(one_look, effects), QualityFinding::worse), 0);
}

TEST(SuiteDecision, ValuesWithoutAnyVarianceAreDecidedAtTheFirstLook) {
  const SuiteState state = suite_state(
      suite_of(), {std::vector<double>(14, 0.0), std::vector<double>(14, -0.02), std::vector<double>(14, 0.02)});
  EXPECT_TRUE(state.finished);
  EXPECT_EQ(state.benchmarks[0].finding, QualityFinding::equivalent);
  EXPECT_EQ(state.benchmarks[1].finding, QualityFinding::worse);
  EXPECT_EQ(state.benchmarks[2].finding, QualityFinding::better);
}

TEST(SuiteDecision, AMarginToleratesAndHasToBeResolved) {
  const SuiteEffects within = normal_suite({-0.01, 0}, 0.002, 5);
  EXPECT_EQ(gate_answer(suite_of(), suite_state(suite_of(), within)), GateAnswer::regressed);
  const SuiteRule tolerant = suite_of(0.01, 0.02);
  EXPECT_EQ(gate_answer(tolerant, suite_state(tolerant, within)), GateAnswer::passed);
  const SuiteEffects noisy = normal_suite({0, 0}, 0.3, 5);
  EXPECT_EQ(gate_answer(tolerant, suite_state(tolerant, noisy)), GateAnswer::undecided);
  EXPECT_EQ(gate_answer(suite_of(), suite_state(suite_of(), noisy)),
            GateAnswer::passed);  // nothing was asked to be resolved
  EXPECT_EQ(gate_answer(suite_of(), suite_state(suite_of(), {{}, {}})), GateAnswer::undecided);
}

TEST(SuiteDecision, ADecidedBenchmarkNeedsNoMoreRounds) {
  SuiteEffects effects = normal_suite({-0.05, 0}, 0.005, 7);
  effects[0].resize(14);
  effects[1].resize(20);
  const SuiteState state = suite_state(suite_of(), effects);
  EXPECT_EQ(state.benchmarks[0].finding, QualityFinding::worse);
  EXPECT_EQ(state.benchmarks[0].rounds, 14);
  EXPECT_EQ(state.rounds_wanted, state.finished ? 0 : 2);
}

}  // namespace
}  // namespace apo
