// tests/evaluate/judge/equivalence_test.cpp - equivalence has to be shown, and the number of differences it needs.
#include "harness/evaluate/judge/equivalence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/evaluate/judge/rounds.h"

namespace apo {
namespace {

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
  const Equivalence test = test_equivalence(normals(std::uint64_t{7}, 5, 0, 0.05), 0.01);
  EXPECT_FALSE(test.inside);
  EXPECT_GT(test.needed, 5);
}

// The share of draws of `count` differences round `centre` that are called equivalent within a margin of 0.01.
double shown(int count, double centre, double sd) {
  constexpr int kTrials = 1000;
  int inside = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    inside += test_equivalence(normals(trial, count, centre, sd), 0.01).inside ? 1 : 0;
  }
  return static_cast<double>(inside) / kTrials;
}

TEST(Equivalence, TheNumberThatItNeedsIsEnoughInMostCases) {
  EXPECT_GT(shown(46, 0, 0.02), 0.8) << "of the true spread and no change: pi/3 (2 x 1.645 x 2)^2 is 46";
}

TEST(Equivalence, AChangeAtTheMarginIsRarelyCalledEquivalent) {
  EXPECT_LE(shown(10, 0.01, 0.005), 0.07) << "the level is 5 %";
}

}  // namespace
}  // namespace apo
