// tests/evaluate/rounds/looks_test.cpp - the parent looks at one call of each slot, and nobody can foresee which.
#include "harness/evaluate/rounds/looks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace apo {
namespace {

constexpr std::uint64_t kSeeds = 200;
constexpr int kBlocks = 12;

bool is_outer(int sample) {
  return sample == 0 || sample == 3;
}

TEST(RoundLooks, AreAtOneTimedCallOfEachSlotInTwoBlocks) {
  std::set<int> blocks;
  std::set<int> samples;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Looks looks = draw_looks(seed, kBlocks, 0, false);
    EXPECT_TRUE(looks.timed);
    EXPECT_TRUE(looks.fresh_after.empty());
    EXPECT_NE(looks.at_timed[0].block, looks.at_timed[1].block);
    EXPECT_NE(is_outer(looks.at_timed[0].sample), is_outer(looks.at_timed[1].sample));
    for (const Verification& one : looks.at_timed) {
      blocks.insert(one.block);
      samples.insert(one.sample);
    }
  }
  EXPECT_EQ(*blocks.begin(), 0);
  EXPECT_EQ(*blocks.rbegin(), kBlocks - 1);
  EXPECT_EQ(blocks.size(), std::size_t{kBlocks});
  EXPECT_EQ(samples, (std::set{0, 1, 2, 3}));
}

TEST(RoundLooks, BothAreInTheOnlyBlockOfARound) {
  const Looks looks = draw_looks(1, 1, 0, false);
  EXPECT_EQ(looks.at_timed[0].block, 0);
  EXPECT_EQ(looks.at_timed[1].block, 0);
}

TEST(RoundLooks, FreshInputsAreSpreadOverTheRoundAndTheLastComeBehindItsEnd) {
  std::set<int> first;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Looks looks = draw_looks(seed, kBlocks, 3, false);
    EXPECT_TRUE(looks.timed);
    ASSERT_EQ(looks.fresh_after.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(looks.fresh_after, std::ranges::less_equal()));
    EXPECT_EQ(looks.fresh_after.back(), kBlocks - 1);
    first.insert(looks.fresh_after.front());
  }
  EXPECT_EQ(first, (std::set{0, 1, 2, 3}));
}

TEST(RoundLooks, ARoundWhereTheyCostMuchHasEitherKind) {
  int timed = 0;
  std::set<int> fresh;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Looks looks = draw_looks(seed, kBlocks, 2, true);
    EXPECT_EQ(looks.fresh_after.size(), looks.timed ? 0u : 1u);
    timed += looks.timed ? 1 : 0;
    fresh.insert(looks.fresh_after.begin(), looks.fresh_after.end());
  }
  EXPECT_GT(timed, 60);
  EXPECT_LT(timed, 140);
  EXPECT_EQ(fresh.size(), std::size_t{kBlocks});
}

}  // namespace
}  // namespace apo
