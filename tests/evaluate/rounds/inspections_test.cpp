// tests/evaluate/rounds/inspections_test.cpp - the parent looks at one call of each slot, and nobody can foresee which.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/evaluate/rounds/layout.h"

namespace apo {
namespace {

constexpr std::uint64_t kSeeds = 200;
constexpr int kBlocks = 12;

bool is_outer(int sample) {
  return sample == 0 || sample == 3;
}

TEST(RoundInspections, AreAtOneTimedCallOfEachSlotInTwoBlocks) {
  std::set<int> blocks;
  std::set<int> samples;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Inspections inspections = draw_inspections(seed, kBlocks, 0, false);
    EXPECT_TRUE(inspections.timed);
    EXPECT_TRUE(inspections.fresh_after.empty());
    EXPECT_NE(inspections.at_timed[0].block, inspections.at_timed[1].block);
    EXPECT_NE(is_outer(inspections.at_timed[0].sample), is_outer(inspections.at_timed[1].sample));
    for (const Verification& one : inspections.at_timed) {
      blocks.insert(one.block);
      samples.insert(one.sample);
    }
  }
  EXPECT_EQ(*blocks.begin(), 0);
  EXPECT_EQ(*blocks.rbegin(), kBlocks - 1);
  EXPECT_EQ(blocks.size(), std::size_t{kBlocks});
  EXPECT_EQ(samples, (std::set{0, 1, 2, 3}));
}

TEST(RoundInspections, BothAreInTheOnlyBlockOfARound) {
  const Inspections inspections = draw_inspections(1, 1, 0, false);
  EXPECT_EQ(inspections.at_timed[0].block, 0);
  EXPECT_EQ(inspections.at_timed[1].block, 0);
}

TEST(RoundInspections, FreshInputsAreSpreadOverTheRoundAndTheLastComeBehindItsEnd) {
  std::set<int> first;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Inspections inspections = draw_inspections(seed, kBlocks, 3, false);
    EXPECT_TRUE(inspections.timed);
    ASSERT_EQ(inspections.fresh_after.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(inspections.fresh_after, std::ranges::less_equal()));
    EXPECT_EQ(inspections.fresh_after.back(), kBlocks - 1);
    first.insert(inspections.fresh_after.front());
  }
  EXPECT_EQ(first, (std::set{0, 1, 2, 3}));
}

TEST(RoundInspections, ARoundWhereTheyCostMuchHasEitherKind) {
  int timed = 0;
  std::set<int> fresh;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Inspections inspections = draw_inspections(seed, kBlocks, 2, true);
    EXPECT_EQ(inspections.fresh_after.size(), inspections.timed ? 0u : 1u);
    timed += inspections.timed ? 1 : 0;
    fresh.insert(inspections.fresh_after.begin(), inspections.fresh_after.end());
  }
  EXPECT_GT(timed, 60);
  EXPECT_LT(timed, 140);
  EXPECT_EQ(fresh.size(), std::size_t{kBlocks});
}

}  // namespace
}  // namespace apo
