// tests/profile/summary_test.cpp - order statistics against values worked out by hand.
#include "harness/profile/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace apo {
namespace {

TEST(Summary, MedianSpreadAndPercentilesOfElevenValues) {
  const SampleSummary summary = summarise({11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6});
  EXPECT_EQ(summary.count, 11);
  EXPECT_DOUBLE_EQ(summary.median, 6);
  EXPECT_DOUBLE_EQ(summary.p10, 2);
  EXPECT_DOUBLE_EQ(summary.p90, 10);
  EXPECT_DOUBLE_EQ(summary.mad_sigma, 1.4826 * 3);
}

std::vector<double> up_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summary, TheIntervalIsOfOrderStatistics) {
  struct Case {
    const char* why;
    std::vector<double> values;
    double lower;
    double upper;
  };
  for (const Case& one :
       {Case{"P(Bin(11, 1/2) < 2) = 12/2048 = 0.6 %, P(< 3) = 67/2048 = 3.3 %: the rank is 2", up_to(11), 2, 10},
        {"the tabulated rank of the 95 % interval for n = 30 is 10 (10th and 21st)", up_to(30), 10, 21},
        {"few samples give the whole range", {3, 1, 2}, 1, 3},
        {"one value is its own interval", {7}, 7, 7}}) {
    const SampleSummary summary = summarise(one.values);
    EXPECT_DOUBLE_EQ(summary.lower, one.lower) << one.why;
    EXPECT_DOUBLE_EQ(summary.upper, one.upper) << one.why;
  }
  EXPECT_DOUBLE_EQ(summarise({7}).mad_sigma, 0);
}

// n = 40, p = 0.9: P(X < 32) = 1.5 %, P(X < 33) = 4.2 %, so the lower end is the 32nd; P(X >= 40) = 1.5 %, so the upper
// end is the 40th.
TEST(QuantileInterval, OfTheNinetiethPercentileOfForty) {
  const QuantileInterval interval = quantile_interval(up_to(40), 0.9);
  EXPECT_EQ(interval.count, 40);
  EXPECT_DOUBLE_EQ(interval.value, 36.1);
  EXPECT_DOUBLE_EQ(interval.lower, 32);
  EXPECT_DOUBLE_EQ(interval.upper, 40);
}

TEST(QuantileInterval, OfNothingIsZero) {
  EXPECT_EQ(quantile_interval({}, 0.9).count, 0);
}

TEST(Summary, ValuesThatAreNotFiniteAreDropped) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(summarise({std::nan(""), 5, infinity}).median, 5);
  EXPECT_EQ(summarise({std::nan("")}).count, 0);
  EXPECT_EQ(summarise({}).count, 0);
}

TEST(Summary, ManySamplesKeepAnOrderedInterval) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back((i * 7919) % 5000);
  }
  const SampleSummary summary = summarise(values);
  EXPECT_LT(summary.lower, summary.median);
  EXPECT_GT(summary.upper, summary.median);
}

}  // namespace
}  // namespace apo
