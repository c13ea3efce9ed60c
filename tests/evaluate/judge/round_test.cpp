// tests/evaluate/judge/round_test.cpp - coins, warm-up, void rules, contrasts, presets.
#include "harness/evaluate/judge/round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "harness/core/error.h"
#include "harness/evaluate/judge_pair.h"
#include "tests/evaluate/judge/rounds.h"
#include "tests/text.h"

namespace apo {
namespace {

Block block_of(int first, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return {.samples = {{first, a}, {1 - first, b}, {1 - first, c}, {first, d}}};
}

std::vector<Block> blocks_of(const std::vector<std::int64_t>& call_ns) {
  std::vector<Block> blocks;
  for (const std::int64_t ns : call_ns) {
    blocks.push_back(block_of(0, ns, ns, ns, ns));
  }
  return blocks;
}

// ---------------------------------------------------------------- coins

TEST(RoundDraw, EveryRoundHasItsOwnSeed) {
  std::set<std::uint64_t> seeds;
  for (const char* comparison : {"a", "b"}) {
    for (const RoundStage stage : {RoundStage::search, RoundStage::confirm}) {
      for (int index = 0; index < 50; ++index) {
        seeds.insert(round_seed(7, comparison, stage, index));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 200u);
  EXPECT_EQ(round_seed(7, "a", RoundStage::search, 3), round_seed(7, "a", RoundStage::search, 3));
  EXPECT_NE(round_seed(7, "a", RoundStage::search, 3), round_seed(8, "a", RoundStage::search, 3));
}

TEST(RoundDraw, SlotCoinAndBlockOrderAreFairAndIndependent) {
  int slot0 = 0;
  int starts_with_1 = 0;
  int both = 0;
  constexpr int kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    const RoundDraw draw = draw_round(round_seed(1, "c", RoundStage::search, i), 1);
    const int first = block_slots(draw.order_seed, BlockKind::timed, 0, 0)[0];
    slot0 += draw.candidate_in_slot0 ? 1 : 0;
    starts_with_1 += first;
    both += draw.candidate_in_slot0 && first == 1 ? 1 : 0;
  }
  EXPECT_NEAR(slot0, kRounds / 2, 160);  // 5 sigma
  EXPECT_NEAR(starts_with_1, kRounds / 2, 160);
  EXPECT_NEAR(both, kRounds / 4, 140);
}

TEST(RoundDraw, OrdersWithinARoundAreFairCoins) {
  int ones = 0;
  for (int block = 0; block < 4000; ++block) {
    const auto slots = block_slots(99, BlockKind::timed, 2, block);
    EXPECT_EQ(slots[0], slots[3]);
    EXPECT_EQ(slots[1], slots[2]);
    EXPECT_NE(slots[0], slots[1]);
    ones += slots[0];
  }
  EXPECT_NEAR(ones, 2000, 160);
}

TEST(RoundDraw, EveryWorkloadHasItsTurnInARandomOrder) {
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 300; ++i) {
    const RoundDraw draw = draw_round(static_cast<std::uint64_t>(i), 5);
    orders.insert(draw.workload_order);
    EXPECT_EQ(std::set<int>(draw.workload_order.begin(), draw.workload_order.end()), (std::set<int>{0, 1, 2, 3, 4}));
  }
  EXPECT_GT(orders.size(), 80u);
}

TEST(RoundDraw, FlippedCoinInARecordIsFound) {
  Round round = make_round({.stage = RoundStage::search, .index = 4}, {0.01});
  EXPECT_NO_THROW(check_coin(round));
  round.candidate_in_slot0 = !round.candidate_in_slot0;
  EXPECT_THROW(check_coin(round), UserError);
}

// ---------------------------------------------------------------- label-blind rules

TEST(WarmUp, StopsWhenSteadyAndLongEnough) {
  const JudgePreset preset = standard_preset();
  EXPECT_FALSE(is_warm({}, preset));
  EXPECT_FALSE(is_warm(blocks_of({10'000'000}), preset));             // one block
  EXPECT_TRUE(is_warm(blocks_of({10'000'000, 10'100'000}), preset));  // 1 % apart, 80 ms
  EXPECT_FALSE(is_warm(blocks_of({10'000'000, 10'300'000}), preset));
  EXPECT_FALSE(is_warm(blocks_of({1'000'000, 1'000'000}), preset));  // 8 ms
  // The last two agree, but an earlier block was 5 % faster.
  EXPECT_FALSE(is_warm(blocks_of({10'000'000, 10'500'000, 10'510'000}), preset));
}

TEST(WarmUp, EndsAfterEightBlocksOnceTheTimeHasPassed) {
  const JudgePreset preset = standard_preset();
  const std::vector<std::int64_t> restless = {9, 7, 9, 7, 9, 7, 9, 7};
  std::vector<std::int64_t> slow = restless;
  std::vector<std::int64_t> fast = restless;
  for (std::size_t i = 0; i < restless.size(); ++i) {
    slow[i] *= 1'000'000;
    fast[i] *= 10'000;
  }
  EXPECT_TRUE(is_warm(blocks_of(slow), preset));
  slow.pop_back();
  EXPECT_FALSE(is_warm(blocks_of(slow), preset));
  EXPECT_FALSE(is_warm(blocks_of(fast), preset));  // 2.6 ms: an idle device has not raised its clock yet
}

TEST(BlockCount, FillsTheRoundBetweenItsLimits) {
  const JudgePreset preset = standard_preset();
  // Two warm-up blocks of 10 ms leave 145 ms for blocks of 10 ms.
  EXPECT_EQ(block_count(blocks_of({2'500'000, 2'500'000}), preset), 14);
  EXPECT_EQ(block_count(blocks_of({50'000'000, 50'000'000}), preset), 6);
  EXPECT_EQ(block_count(blocks_of(std::vector<std::int64_t>(60, 100'000)), preset), 40);
  EXPECT_THROW(block_count({}, preset), UserError);
}

TEST(WarmUpAndBlockCount, DoNotDependOnWhichSlotIsWhich) {
  std::vector<Block> blocks = {block_of(0, 9'000'000, 7'000'000, 7'100'000, 9'100'000),
                               block_of(1, 7'000'000, 9'000'000, 9'100'000, 7'100'000)};
  std::vector<Block> relabelled = blocks;
  for (Block& block : relabelled) {
    for (Sample& sample : block.samples) {
      sample.slot = 1 - sample.slot;
    }
  }
  EXPECT_EQ(is_warm(blocks, standard_preset()), is_warm(relabelled, standard_preset()));
  EXPECT_EQ(block_count(blocks, standard_preset()), block_count(relabelled, standard_preset()));
}

// ---------------------------------------------------------------- void rounds

TEST(VoidReason, NamesEachKindOfWholeRoundEvidence) {
  const JudgePreset preset = standard_preset();
  Round round = make_round({.stage = RoundStage::search}, {0.0});
  const std::vector<double> usual = {0.4, 0.5, 0.4};
  EXPECT_EQ(void_reason(round, usual, preset), "");

  for (const std::uint64_t bits : {0x8U, 0x20U, 0x40U, 0x80U}) {
    round.environment = {.throttle_bits = bits};
    EXPECT_NE(void_reason(round, usual, preset), "") << bits;
  }
  round.environment = {.throttle_bits = 0x1 | 0x2 | 0x4 | 0x10};  // idle, application clocks, power cap, sync boost
  EXPECT_EQ(void_reason(round, usual, preset), "");

  round.environment = {.sm_mhz_before = 1980, .sm_mhz_after = 1530};  // -23 %
  EXPECT_EQ(void_reason(round, usual, preset), "");
  round.environment = {.sm_mhz_before = 1980, .sm_mhz_after = 1480};
  EXPECT_NE(void_reason(round, usual, preset), "");

  round.environment = {};
  round.seconds = 1.61;
  EXPECT_NE(void_reason(round, usual, preset), "");
  round.seconds = 1.59;
  EXPECT_EQ(void_reason(round, usual, preset), "");
  round.seconds = 100;
  EXPECT_EQ(void_reason(round, std::vector<double>{0.4, 0.4}, preset), "");  // no usual time yet
}

TEST(VoidReason, IsNotThatAProcessTookLongToStart) {
  const std::vector<double> usual = {0.4, 0.5, 0.4};
  Round round = make_round({.stage = RoundStage::search}, {0.0});
  round.seconds = 2;
  EXPECT_NE(void_reason(round, usual, standard_preset()), "");
  round.environment = {.start_wait_s = 1.5};
  EXPECT_EQ(void_reason(round, usual, standard_preset()), "");
  EXPECT_DOUBLE_EQ(busy_seconds(round), 0.5);
}

// Of a candidate with one such call in 25 three rounds in 20 would be void, and none of these calls seen.
TEST(VoidReason, IsNotASlowCallWhereCallsAreLong) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const Block usual_block = block_of(0, kSecond, kSecond, kSecond, kSecond);
  Round round;
  round.seconds = 8.3 + 39;
  round.workloads = {{.workload = "w", .blocks = {usual_block, block_of(1, kSecond, 40 * kSecond, kSecond, kSecond)}}};
  const std::vector<double> usual = {8.3, 8.2, 8.4};
  round.environment.empty_window_ns = 2e4;
  EXPECT_EQ(void_reason(round, usual, standard_preset()), "");
  round.seconds += 35;  // in which the machine did nothing for it
  EXPECT_NE(void_reason(round, usual, standard_preset()), "");
  round.seconds -= 35;
  round.workloads.front().warmup = {usual_block};  // its calls are short
  EXPECT_NE(void_reason(round, usual, standard_preset()), "");
}

TEST(VoidReason, NeverLooksAtTheEffect) {
  Round slow = make_round({.stage = RoundStage::search}, {-5.0});
  Round fast = make_round({.stage = RoundStage::search}, {+5.0});
  const std::vector<double> usual = {0.4, 0.4, 0.4};
  EXPECT_EQ(void_reason(slow, usual, standard_preset()), void_reason(fast, usual, standard_preset()));
}

TEST(VoidReason, ReadingsThatAreNoNumbersAreRefused) {
  for (const double bad : {std::nan(""), -1.0, std::numeric_limits<double>::infinity()}) {
    Round round = make_round({.stage = RoundStage::search}, {0.0});
    round.environment = {.sm_mhz_before = bad};
    EXPECT_THROW(void_reason(round, {}, standard_preset()), UserError) << bad;
    round.environment = {};
    round.seconds = bad;
    EXPECT_THROW(void_reason(round, {}, standard_preset()), UserError);
  }
}

// ---------------------------------------------------------------- contrasts

TEST(BlockContrast, ComparesTheFasterRunOfEachArm) {
  const Block block = block_of(0, 200, 100, 900, 210);  // slot 0: 200, slot 1: 100
  EXPECT_NEAR(block_contrast(block, false), std::log(2.0), 1e-12);
  EXPECT_NEAR(block_contrast(block, true), -std::log(2.0), 1e-12);
}

TEST(BlockContrast, WhatIsNoBlockIsRefused) {
  EXPECT_THROW(block_contrast({}, true), UserError);
  EXPECT_THROW(block_contrast({.samples = {{0, 5}, {1, 5}, {1, 5}}}, true), UserError);
  EXPECT_THROW(block_contrast({.samples = {{0, 5}, {1, 5}, {0, 5}, {1, 5}}}, true), UserError);
  EXPECT_THROW(block_contrast({.samples = {{2, 5}, {-1, 5}, {-1, 5}, {2, 5}}}, true), UserError);
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-7}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THROW(block_contrast(block_of(0, 100, bad, 100, 100), true), UserError);
  }
}

TEST(Midmean, DropsAQuarterAtEachEnd) {
  EXPECT_DOUBLE_EQ(midmean({1, 2, 3, 1e9, -1e9, 4, 5, 6}), 3.5);  // 2 at each end
  EXPECT_DOUBLE_EQ(midmean({1e9, 2, 3, 1e9, 1, 4, 5, 6}), 4.5);   // two outliers on one side
  EXPECT_DOUBLE_EQ(midmean({7, 1, 1e9}), (8 + 1e9) / 3);          // floor(3 / 4) = 0
  EXPECT_DOUBLE_EQ(midmean({5}), 5);
}

TEST(SummariseRound, FillsEffectPercentilesAndMedians) {
  Round round{.stage = RoundStage::search, .candidate_in_slot0 = true};
  RoundWorkload workload{.workload = "w", .repetitions = 2};
  for (int k = 0; k < 10; ++k) {  // slot 0, the candidate: 100 .. 109 and 110; slot 1: 200 .. 218 and 300
    workload.blocks.push_back(block_of(k % 2, k % 2 == 0 ? 100 + k : 200 + 2 * k, k % 2 == 0 ? 200 + 2 * k : 100 + k,
                                       k % 2 == 0 ? 300 : 110, k % 2 == 0 ? 110 : 300));
  }
  round.workloads = {workload};
  summarise_round(round);
  const RoundWorkload& summary = round.workloads.front();
  EXPECT_NEAR(summary.effect, std::log(2.0), 1e-12);  // (200 + 2k) / (100 + k) in every block
  EXPECT_EQ(round.effect, summary.effect);
  EXPECT_DOUBLE_EQ(summary.candidate_p90_ns, 55);
  EXPECT_DOUBLE_EQ(summary.incumbent_p90_ns, 150);
  EXPECT_DOUBLE_EQ(summary.candidate_median_ns, (109 + 110) / 4.0);
  EXPECT_DOUBLE_EQ(summary.incumbent_median_ns, (218 + 300) / 4.0);
}

TEST(SummariseRound, PercentileIsTheNearestRank) {
  Round round{.stage = RoundStage::search};
  RoundWorkload workload{.workload = "w"};
  for (int k = 0; k < 6; ++k) {  // twelve calls of each slot: 1 .. 12 and 101 .. 112
    workload.blocks.push_back(block_of(0, 2 * k + 1, 100 + 2 * k + 1, 100 + 2 * k + 2, 2 * k + 2));
  }
  round.workloads = {workload};
  summarise_round(round);
  EXPECT_EQ(round.workloads[0].incumbent_p90_ns, 11);  // ceil(0.9 x 12)
  EXPECT_EQ(round.workloads[0].candidate_p90_ns, 111);
}

TEST(SummariseRound, EffectOfSeveralWorkloadsIsTheirMean) {
  Round round = make_round({.stage = RoundStage::search}, {0.03, -0.01, 0.01});
  summarise_round(round);
  EXPECT_NEAR(round.effect, 0.01, 1e-8);
  EXPECT_NEAR(round.workloads[1].effect, -0.01, 1e-8);
}

TEST(SummariseRound, ErrorNamesTheRoundAndTheWorkload) {
  Round round = make_round({.stage = RoundStage::search, .index = 6}, {0.03, 0.01});
  round.workloads[1].blocks[3].samples[2].ns = -3;
  expect_contains(error_of([&] { summarise_round(round); }), "search round 6, workload 'w1': a sample of -3 ns");
}

TEST(SummariseRound, EmptyRoundsAreRefused) {
  Round round;
  EXPECT_THROW(summarise_round(round), UserError);
  round.workloads.emplace_back();
  EXPECT_THROW(summarise_round(round), UserError);
  round = make_round({.stage = RoundStage::search}, {0.0});
  round.workloads[0].repetitions = 0;
  EXPECT_THROW(summarise_round(round), UserError);
}

// ---------------------------------------------------------------- presets

TEST(JudgePreset, WithoutASentinelOfItsWorkloadsItIsTheOneForNoiseAndClaimsByTheRounds) {
  const JudgePreset preset = preset_for_unknown_spread(LayoutControl::redrawn);
  EXPECT_EQ(preset.name, "extended");
  EXPECT_EQ(preset_for_unknown_spread(LayoutControl::none).name, "strict-extended");
  EXPECT_TRUE(preset.claims_by_rounds);
  EXPECT_EQ(preset.minimum_claim, 0);
}

TEST(JudgePreset, OfARecordedJudgementOnLongCallsClaimsByTheRoundsToo) {
  Round round = make_round({.stage = RoundStage::search}, {0.0});
  round.environment.empty_window_ns = 2e4;
  const Judgement judged{.preset = "extended"};
  const auto by_rounds = [&] { return recorded_preset(judged, {round}).claims_by_rounds; };
  round.workloads.front().warmup = {block_of(0, 1, 1, 1, 1)};
  EXPECT_FALSE(by_rounds());
  round.workloads.front().warmup.clear();
  EXPECT_TRUE(by_rounds());
  round.void_why = "calls turned out too short";
  EXPECT_FALSE(by_rounds());
}

TEST(JudgePreset, SentinelSpreadChoosesIt) {
  EXPECT_EQ(choose_preset(0.0003, LayoutControl::redrawn).name, "precise");
  EXPECT_EQ(choose_preset(0.0003, LayoutControl::aligned).name, "standard");
  EXPECT_EQ(choose_preset(0.009, LayoutControl::aligned).name, "standard");
  EXPECT_EQ(choose_preset(0.0091, LayoutControl::aligned).name, "extended");
  EXPECT_EQ(choose_preset(0.009, LayoutControl::none).name, "strict");
  EXPECT_EQ(choose_preset(0.015, LayoutControl::none).name, "strict-extended");
}

TEST(JudgePreset, NoisyMachineRefusesSmallClaims) {
  EXPECT_EQ(choose_preset(0.02, LayoutControl::aligned).minimum_claim, 0);
  const JudgePreset noisy = choose_preset(0.03, LayoutControl::aligned);
  EXPECT_DOUBLE_EQ(noisy.minimum_claim, 0.0025 + 0.85 * 0.03);
  expect_contains(noisy.note, "refuse claims below 2.8 %");
}

TEST(JudgePreset, SearchStageSpendsAtMostOnePercent) {
  for (const JudgePreset& preset :
       {standard_preset(), extended_preset(), strict_preset(), strict_extended_preset(), precise_preset()}) {
    double spent = 0;
    int before = 0;
    for (const Look& look : preset.looks) {
      spent += look.alpha;
      EXPECT_GT(look.rounds, before);
      before = look.rounds;
    }
    EXPECT_LE(spent, 0.01 + 1e-12) << preset.name;
    EXPECT_EQ(preset_named(preset.name).margin, preset.margin);
  }
}

TEST(JudgePreset, SentinelThatIsNoNumberIsRefused) {
  for (const double bad : {std::nan(""), -0.01, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(choose_preset(bad, LayoutControl::aligned), UserError);
  }
  EXPECT_THROW(preset_named("standart"), UserError);
}

}  // namespace
}  // namespace apo
