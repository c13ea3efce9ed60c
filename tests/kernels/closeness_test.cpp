// tests/kernels/closeness_test.cpp - the comparison rule itself, on numbers worked out by hand.
#include "kernels/closeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace apo {
namespace {

constexpr Tolerance kTolerance = {.output_rounding = 0.01, .element_sigmas = 4, .rms_factor = 2, .group = 2};

TEST(Closeness, EqualOutputsHoldWithoutAnyNoise) {
  const std::vector<double> values = {1, -2, 0};
  const std::vector<double> none(3);
  const Closeness close = closeness(Tolerance{}, values, none, values);
  EXPECT_TRUE(close.holds());
  EXPECT_EQ(close.element, 0);
  EXPECT_EQ(close.rms, 0);
}

TEST(Closeness, ATinyDifferenceFailsWhereEqualityIsAsked) {
  const std::vector<double> expected = {1, 2};
  const std::vector<double> actual = {1, std::nextafter(2.0, 3.0)};
  const std::vector<double> none(2);
  const Closeness close = closeness(Tolerance{}, expected, none, actual);
  EXPECT_FALSE(close.holds());
  EXPECT_EQ(close.worst_element, 1);
}

TEST(Closeness, WhatIsNotFiniteByTheContractHasToBeTheSame) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> expected = {kNan, INFINITY, -INFINITY, 1};
  const std::vector<double> noise(4, 0.1);
  EXPECT_TRUE(closeness(kTolerance, expected, noise, expected).holds());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const double wrong : std::vector<double>{0.0, kNan, INFINITY, -INFINITY}) {
      std::vector<double> actual = expected;
      actual[i] = wrong;
      const bool same = std::isnan(wrong) ? std::isnan(expected[i]) : wrong == expected[i];
      EXPECT_EQ(closeness(kTolerance, expected, noise, actual).holds(), same) << i << " " << wrong;
    }
  }
}

TEST(Closeness, ZerosOfBothSignsAreEqualUnlessTheContractTellsThemApart) {
  Tolerance tolerance = kTolerance;
  const std::vector<double> noise(2, 0.1);
  EXPECT_TRUE(closeness(tolerance, std::vector{0.0, -0.0}, noise, std::vector{-0.0, -0.0}).holds());
  tolerance.signed_zero = true;
  EXPECT_FALSE(closeness(tolerance, std::vector{0.0, -0.0}, noise, std::vector{-0.0, -0.0}).holds());
  EXPECT_TRUE(closeness(tolerance, std::vector{0.0, -0.0}, noise, std::vector{0.0, -0.0}).holds());
}

TEST(Closeness, ElementBoundIsRoundingPlusSigmas) {
  const std::vector<double> expected = {1, 1};
  const std::vector<double> noise = {0.1, 0.1};
  const std::vector<double> actual = {1, 1 + 0.01 + 0.2};  // half of 4 sigma
  EXPECT_NEAR(closeness(kTolerance, expected, noise, actual).element, 0.5, 1e-12);
}

TEST(Closeness, QuietElementsShareTheNoiseOfTheirGroupOnly) {
  const std::vector<double> expected(4);
  const std::vector<double> noise = {1, 0, 0, 0};
  const std::vector<double> in_group = {0, 1, 0, 0};
  const std::vector<double> elsewhere = {0, 0, 1, 0};
  EXPECT_NEAR(closeness(kTolerance, expected, noise, in_group).element, std::sqrt(2.0) / 4, 1e-12);
  EXPECT_FALSE(closeness(kTolerance, expected, noise, elsewhere).holds());
}

TEST(Closeness, LastGroupTakesTheRest) {
  const std::vector<double> expected(5);
  const std::vector<double> noise = {0, 0, 3, 0, 0};
  const std::vector<double> actual = {0, 0, 0, 0, 1};
  EXPECT_NEAR(closeness(kTolerance, expected, noise, actual).element, 1 / (4 * std::sqrt(3.0)), 1e-12);
}

TEST(Closeness, RmsFindsManySlightlyWrongElements) {
  const std::vector<double> expected(64);
  const std::vector<double> noise(64, 1.0);
  const std::vector<double> actual(64, 2.5);  // each within 4 sigma
  const Closeness close = closeness(kTolerance, expected, noise, actual);
  EXPECT_LE(close.element, 1);
  EXPECT_NEAR(close.rms, 1.25, 1e-12);
  EXPECT_FALSE(close.holds());
}

// binary_backward/streaming, whose sums of equal rows are all off by the same rounding, was refused for it.
TEST(Closeness, ElementsOfEqualReferenceCountAsOneForTheSpreadOfTheRms) {
  const Tolerance tolerance = {.element_sigmas = 16, .rms_factor = 2.2, .rms_spread = 3};
  const std::vector<double> noise(64, 1.0);
  std::vector<double> pairs(64), different(64);
  std::iota(different.begin(), different.end(), 0.0);
  std::ranges::transform(different, pairs.begin(), [](double value) { return std::floor(value / 16); });
  const auto off_by_3 = [](std::vector<double> values) {
    for (double& value : values) {
      value += 3;
    }
    return values;
  };
  EXPECT_NEAR(closeness(tolerance, pairs, noise, off_by_3(pairs)).rms, 3 / (2.2 + 3 / 2.0), 1e-12);
  EXPECT_NEAR(closeness(tolerance, different, noise, off_by_3(different)).rms, 3 / (2.2 + 3 / 8.0), 1e-12);
}

// binary_backward/cuda_last_block was refused for 2,875 equal terms, whose sum is off by 7.4 sigma in every element.
TEST(Closeness, OneErrorIsJudgedAsThatOfAnElement) {
  const Tolerance tolerance = {.element_sigmas = 16, .rms_factor = 2.2, .rms_spread = 3};
  for (const std::size_t count : {1U, 64U}) {
    const std::vector<double> noise(count, 1.0), equal(count, 7.0);
    EXPECT_TRUE(closeness(tolerance, equal, noise, std::vector<double>(count, 7 + 15.0)).holds()) << count;
    EXPECT_FALSE(closeness(tolerance, equal, noise, std::vector<double>(count, 7 + 17.0)).holds()) << count;
  }
}

TEST(Closeness, NotFiniteNeverHolds) {
  const std::vector<double> expected = {1, 1};
  const std::vector<double> noise = {1e300, 1e300};
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    const std::vector<double> actual = {1, bad};
    EXPECT_FALSE(closeness(kTolerance, expected, noise, actual).holds()) << bad;
  }
}

TEST(Closeness, NaNInTheYardstickNeverHolds) {
  const std::vector<double> expected = {1, 1};
  const std::vector<double> noise = {std::nan(""), 0};
  EXPECT_FALSE(closeness(kTolerance, expected, noise, std::vector<double>{1, 1.5}).holds());
}

}  // namespace
}  // namespace apo
