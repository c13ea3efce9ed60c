// tests/evaluate/judge/selftest_statistics_test.cpp - exact rate bounds, noise by level, what a machine resolves; on
// simulated noise.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/evaluate/judge/decision.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/rates.h"
#include "harness/evaluate/judge/resolution.h"
#include "harness/evaluate/judge/selftest_summary.h"
#include "kernels/random.h"
#include "tests/evaluate/judge/rounds.h"

namespace apo {
namespace {

// ---------------------------------------------------------------- rates

TEST(Rates, BoundsAreTheTextbookOnes) {
  EXPECT_NEAR(rate_upper_bound(0, 300, 0.95), 1 - std::pow(0.05, 1.0 / 300), 1e-9);
  EXPECT_NEAR(rate_upper_bound(0, 3000, 0.95), 9.98e-4, 1e-6);
  EXPECT_NEAR(rate_bounds(10, 20, 0.95).lower, 0.27196, 1e-5);
  EXPECT_NEAR(rate_bounds(10, 20, 0.95).upper, 0.72804, 1e-5);
  EXPECT_EQ(rate_bounds(0, 7, 0.95).lower, 0);
  EXPECT_EQ(rate_bounds(7, 7, 0.95).upper, 1);
}

// Every rate is inside the interval of at least 95 % of what it produces; exactly, by its binomial distribution.
TEST(Rates, CoverEveryRate) {
  constexpr int kTrials = 25;
  for (const double rate : {0.01, 0.1, 0.37, 0.5, 0.9}) {
    double covered = 0;
    for (int hits = 0; hits <= kTrials; ++hits) {
      const RateBounds bounds = rate_bounds(hits, kTrials, 0.95);
      const double ways =
          std::exp(std::lgamma(kTrials + 1.0) - std::lgamma(hits + 1.0) - std::lgamma(kTrials - hits + 1.0));
      const double probability = ways * std::pow(rate, hits) * std::pow(1 - rate, kTrials - hits);
      covered += bounds.lower <= rate && rate <= bounds.upper ? probability : 0;
    }
    EXPECT_GE(covered, 0.95) << rate;
  }
}

// ---------------------------------------------------------------- noise by level

struct Levels {
  double block = 0;
  double round = 0;
  double layout = 0;
  double process = 0;
};

Round noisy_round(Random& random, double shared, double block_sd, int index) {
  Round round{.stage = RoundStage::noise, .index = index, .candidate_in_slot0 = random.coin(), .seconds = 0.1};
  RoundWorkload workload{.workload = "w"};
  for (int k = 0; k < 16; ++k) {
    // Identical code: slot 0 against slot 1, whichever arm is there.
    const double slot = shared + block_sd * random.normal();
    const auto slow = static_cast<std::int64_t>(1e9 * std::exp(slot));
    const auto fast = static_cast<std::int64_t>(1e9);
    workload.blocks.push_back({.samples = {{0, fast}, {1, slow}, {1, slow}, {0, fast}}});
  }
  round.workloads.push_back(workload);
  summarise_round(round);
  return round;
}

std::vector<Round> nested_rounds(const Levels& sd, int processes, const NoiseDesign& design, std::uint64_t seed) {
  Random random(seed);
  std::vector<Round> rounds;
  for (int process = 0; process < processes; ++process) {
    const double of_process = sd.process * random.normal();
    for (int layout = 0; layout < design.layouts_per_process; ++layout) {
      const double of_layout = of_process + sd.layout * random.normal();
      for (int round = 0; round < design.rounds_per_layout; ++round) {
        rounds.push_back(
            noisy_round(random, of_layout + sd.round * random.normal(), sd.block, static_cast<int>(rounds.size())));
      }
    }
  }
  return rounds;
}

TEST(NoiseLevels, EveryLevelIsFoundWhateverTheCoins) {
  const Levels truth{.block = 0.002, .round = 0.004, .layout = 0.006, .process = 0.008};
  const NoiseLevels levels = noise_levels(nested_rounds(truth, 300, {}, 1), {});
  EXPECT_EQ(levels.processes, 300);
  EXPECT_NEAR(levels.block, truth.block, 0.1 * truth.block);
  EXPECT_NEAR(levels.round, truth.round, 0.1 * truth.round);
  EXPECT_NEAR(levels.layout, truth.layout, 0.15 * truth.layout);
  EXPECT_NEAR(levels.process, truth.process, 0.15 * truth.process);
  EXPECT_NEAR(levels.total, std::hypot(truth.round, truth.layout, truth.process), 0.001);
  EXPECT_GT(levels.process_mean, levels.process);
  EXPECT_NEAR(levels.robust, levels.total, 0.001);
}

TEST(NoiseLevels, AFewRoundsUnderANeighboursLoadDoNotMoveTheRobustSpread) {
  std::vector<Round> rounds = nested_rounds({.round = 0.002}, 8, {}, 4);
  for (const std::size_t i : {3u, 17u, 28u}) {
    rounds[i].effect += 0.3;
  }
  const NoiseLevels levels = noise_levels(rounds, {});
  EXPECT_GT(levels.total, 0.05);
  EXPECT_LT(levels.robust, 0.004);
}

TEST(NoiseLevels, ALevelThatAddsNothingIsSmall) {
  const NoiseLevels levels = noise_levels(nested_rounds({.block = 0.002, .round = 0.004}, 300, {}, 2), {});
  EXPECT_LT(levels.layout, 0.001);
  EXPECT_LT(levels.process, 0.001);
  EXPECT_NEAR(levels.total, 0.004, 0.0006);
}

TEST(NoiseLevels, AProcessWithAVoidRoundIsLeftOut) {
  const NoiseDesign design;
  std::vector<Round> rounds = nested_rounds({.round = 0.001}, 3, design, 3);
  rounds[5].void_why = "the clock went down";
  EXPECT_EQ(noise_levels(rounds, design).processes, 2);
  rounds[0].void_why = "the clock went down";
  EXPECT_THROW(noise_levels(rounds, design), UserError);
}

// ---------------------------------------------------------------- what is resolved

RoundCost quiet_cost() {
  return {.round_sd = 0.002, .block_sd = 0.004, .blocks = 30, .block_s = 0.004, .warmup_s = 0.025};
}

TEST(Resolution, MoreTimeNeverResolvesLess) {
  double before = INFINITY;
  for (const double seconds : {1.5, 3.0, 6.0, 10.0, 20.0, 60.0}) {
    const auto effect = detectable_within(seconds, quiet_cost(), LayoutControl::redrawn);
    ASSERT_TRUE(effect) << seconds;
    EXPECT_LE(*effect, before) << seconds;
    before = *effect;
  }
  EXPECT_GT(before, standard_preset().margin);
}

TEST(Resolution, NothingIsResolvedInLessThanTheFewestRounds) {
  EXPECT_FALSE(detectable_within(0.5, quiet_cost(), LayoutControl::redrawn));
  RoundCost slow = quiet_cost();
  slow.block_s = 1;  // a quarter of a second a call
  EXPECT_FALSE(detectable_within(60, slow, LayoutControl::redrawn));
}

TEST(Resolution, OnlyAQuietMachineThatDrawsLayoutsResolvesLessThanTheStandardMargin) {
  RoundCost precise = quiet_cost();
  precise.round_sd = 0.0003;
  precise.block_sd = 0.0005;
  EXPECT_LT(*detectable_within(10, precise, LayoutControl::redrawn), 0.003);
  EXPECT_GT(*detectable_within(10, precise, LayoutControl::aligned), 0.003);
}

TEST(Resolution, TheSmallestClaimIsWhatIdenticalCodeSeemedToDifferBy) {
  std::vector<double> apparent(200, 0.0001);
  apparent[7] = -0.004;  // one in 200 is beyond the 99 % quantile
  EXPECT_DOUBLE_EQ(smallest_claim(0, apparent), 0.0001);
  apparent[8] = 0.003;
  apparent[9] = 0.003;
  EXPECT_DOUBLE_EQ(smallest_claim(0, apparent), 0.003);
  EXPECT_DOUBLE_EQ(smallest_claim(0.01, apparent), 0.0085);
  EXPECT_DOUBLE_EQ(smallest_claim(0.01, {}), 0.0085);
}

TEST(Resolution, ProcessesAreSharedOnlyWhereThreeStudiesShowThatTheyDoNotDiffer) {
  const RoundCost cost{.round_sd = 0.0003, .block_sd = 0.001, .blocks = 10, .block_s = 0.0008, .warmup_s = 0.02};
  const NoiseLevels quiet{.process = 0.0001, .process_mean = 0.0003};
  const NoiseLevels noisy{.process = 0.0015, .process_mean = 0.002};
  EXPECT_GT(rounds_per_process(std::vector{quiet, quiet, quiet}, 0.2, cost), 1);
  EXPECT_EQ(rounds_per_process(std::vector{quiet, quiet}, 0.2, cost), 1);
  EXPECT_EQ(rounds_per_process(std::vector{quiet, noisy, quiet}, 0.2, cost), 1);
  EXPECT_EQ(rounds_per_process(std::vector{quiet, quiet, quiet}, 0.01, cost), 1);  // a start costs next to nothing
}

// ---------------------------------------------------------------- the summary

TEST(SelftestRates, CountByKernelAndTruthAndMeasureAgainstTheTruth) {
  const Configuration spin{"spin/chain", {}};
  const Configuration longer{"spin/chain", {{"EXTRA", 10}}};
  std::vector<SelftestComparison> comparisons;
  for (int i = 0; i < 10; ++i) {
    comparisons.push_back({.incumbent = spin, .candidate = spin, .workload = "a", .effect = 0.001 * i, .seconds = 2});
    comparisons.push_back({.kind = SelftestKind::power,
                           .incumbent = longer,
                           .candidate = spin,
                           .workload = "a",
                           .truth = 0.01,
                           .verdict = i < 8 ? Verdict::accepted : Verdict::inconclusive,
                           .effect = 0.011,
                           .lower = i < 9 ? 0.009 : 0.0105,
                           .upper = 0.012});
  }
  comparisons.push_back({.incumbent = spin, .candidate = spin, .workload = "b", .verdict = Verdict::accepted});
  const auto identical = selftest_rates(comparisons, SelftestKind::aa);
  ASSERT_EQ(identical.size(), 2u);
  EXPECT_EQ(identical[0].comparisons, 10);
  EXPECT_EQ(identical[0].accepted, 0);
  EXPECT_DOUBLE_EQ(identical[0].median_size, 0.004);
  EXPECT_DOUBLE_EQ(identical[0].largest_size, 0.009);
  EXPECT_DOUBLE_EQ(identical[0].mean_seconds, 2);
  EXPECT_TRUE(std::isnan(identical[0].mean_claim));
  EXPECT_EQ(selftest_total(comparisons, SelftestKind::aa).comparisons, 11);
  EXPECT_EQ(selftest_total(comparisons, SelftestKind::aa).accepted, 1);
  const auto power = selftest_rates(comparisons, SelftestKind::power);
  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0].accepted, 8);
  EXPECT_EQ(power[0].covered, 9);
  EXPECT_DOUBLE_EQ(power[0].mean_claim, 0.011);
  EXPECT_NEAR(power[0].median_size, 0.001, 1e-12);  // its distance from the truth
  EXPECT_EQ(selftest_total(comparisons, SelftestKind::layout).comparisons, 0);
}

TEST(PositiveControl, NeedsBothTheGainAndTheLossToBeFound) {
  const double percent = std::log1p(0.01);
  std::vector<SelftestComparison> found = {
      {.kind = SelftestKind::power, .truth = percent, .verdict = Verdict::accepted},
      {.kind = SelftestKind::power, .truth = percent, .verdict = Verdict::inconclusive},
      {.kind = SelftestKind::power, .truth = std::log1p(0.05), .verdict = Verdict::accepted}};
  EXPECT_FALSE(positive_control(found).holds());
  EXPECT_EQ(positive_control(found).gains, 2);
  found.push_back(
      {.kind = SelftestKind::power, .truth = -percent, .verdict = Verdict::reverted, .reason = Reason::no_gain});
  EXPECT_FALSE(positive_control(found).holds());
  found.back().reason = Reason::regression;
  EXPECT_TRUE(positive_control(found).holds());
}

}  // namespace
}  // namespace apo
