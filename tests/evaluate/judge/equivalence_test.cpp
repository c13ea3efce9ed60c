// tests/evaluate/judge/equivalence_test.cpp - equivalence has to be shown, and the number of differences it needs.
#include "harness/evaluate/judge/equivalence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/random.h"

namespace apo {
namespace {

std::vector<double> normal_values(std::uint64_t seed, int count, double mean, double sd) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(mean + sd * random.normal());
  }
  return values;
}

TEST(Equivalence, FiveDifferencesWithinTheMarginShowIt) {
  const Equivalence test = test_equivalence(std::vector<double>{0.001, -0.002, 0.0005, 0.003, -0.001}, 0.01);
  EXPECT_TRUE(test.inside);
  EXPECT_EQ(test.lower, -0.002);
  EXPECT_EQ(test.upper, 0.003);
  EXPECT_EQ(test.needed, 0);
}

TEST(Equivalence, FourNeverDoHoweverSmallTheyAre) {
  const Equivalence test = test_equivalence(std::vector<double>{0, 0, 0, 0}, 0.01);
  EXPECT_FALSE(test.inside);
  EXPECT_TRUE(std::isinf(test.upper));
  EXPECT_EQ(test.needed, 5);
}

TEST(Equivalence, BeyondTheMarginIsAFindingOfItsOwnOnEitherSide) {
  EXPECT_TRUE(test_equivalence(std::vector<double>{0.02, 0.03, 0.025, 0.022, 0.03}, 0.01).above);
  EXPECT_TRUE(test_equivalence(std::vector<double>{-0.02, -0.03, -0.025, -0.022, -0.03}, 0.01).below);
}

TEST(Equivalence, ADifferenceWithinNoiseIsNoEquivalence) {
  const Equivalence test = test_equivalence(normal_values(7, 5, 0, 0.05), 0.01);
  EXPECT_FALSE(test.inside);
  EXPECT_GT(test.needed, 5);
}

TEST(Equivalence, TheNumberThatItNeedsIsEnoughInMostCases) {
  constexpr double kMargin = 0.01;
  constexpr double kSpread = 0.02;
  int shown = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    // Of the true spread and no change: pi/3 (2 x 1.645 x 2)^2 is 46.
    shown += test_equivalence(normal_values(static_cast<std::uint64_t>(trial), 46, 0, kSpread), kMargin).inside ? 1 : 0;
  }
  EXPECT_GT(shown, kTrials * 8 / 10);
}

TEST(Equivalence, AChangeAtTheMarginIsRarelyCalledEquivalent) {
  int wrong = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    wrong += test_equivalence(normal_values(static_cast<std::uint64_t>(trial), 10, 0.01, 0.005), 0.01).inside ? 1 : 0;
  }
  EXPECT_LE(wrong, kTrials * 7 / 100) << "the level is 5 %";
}

}  // namespace
}  // namespace apo
