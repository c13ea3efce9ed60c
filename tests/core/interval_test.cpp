// tests/core/interval_test.cpp - ratios and changes for people, each in one form.
#include "harness/core/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/text.h"

namespace apo {
namespace {

TEST(Interval, AChangeAndItsBoundsAreAllPercentOrAllRatios) {
  EXPECT_EQ(format_change(std::log(1.0125), std::log(0.999), std::log(1.026)).all(), "+1.25 % [-0.10 %, +2.60 %]");
  EXPECT_EQ(format_change(std::log(0.53), std::log(0.49), std::log(0.58)).all(), "0.53x [0.49x, 0.58x]");
  EXPECT_EQ(format_change(std::log(42.57), std::log(41.0), std::log(44.0)).all(), "42.6x [41.0x, 44.0x]");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format_change(std::log(1.02), -kInfinity, kInfinity).all(), "+2.00 %, too few rounds for an interval");
  EXPECT_EQ(format_effect(std::log(1.34), -kInfinity, kInfinity), "1.34x, too few rounds for an interval");
  EXPECT_EQ(format_effect(std::log(1.34), std::log(1.2), kInfinity), "1.34x [1.20x, any]");
}

TEST(Interval, BandsAndBoundsHaveTwoDecimals) {
  EXPECT_EQ(format_band(1.0512, 2.24), "1.05x to 2.24x");
  EXPECT_EQ(format_ratio(42.57), "42.6x");
  EXPECT_EQ(format_ratio(std::numeric_limits<double>::infinity()), "not measured");
}

}  // namespace
}  // namespace apo
