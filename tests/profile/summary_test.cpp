// tests/profile/summary_test.cpp - order statistics against values worked out by hand.
#include "harness/profile/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

// P(Bin(11, 1/2) < 2) = 12/2048 = 0.6 %, P(< 3) = 67/2048 = 3.3 %: the rank is 2.
TEST(Summary, IntervalOfElevenIsTheSecondAndTheTenth) {
  const SampleSummary summary = summarise({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_DOUBLE_EQ(summary.lower, 2);
  EXPECT_DOUBLE_EQ(summary.upper, 10);
}

// The tabulated rank of the 95 % interval for n = 30 is 10 (10th and 21st).
TEST(Summary, IntervalOfThirtyMatchesTheTable) {
  std::vector<double> values;
  for (int i = 1; i <= 30; ++i) {
    values.push_back(i);
  }
  const SampleSummary summary = summarise(values);
  EXPECT_DOUBLE_EQ(summary.lower, 10);
  EXPECT_DOUBLE_EQ(summary.upper, 21);
}

// n = 40, p = 0.9: P(X < 32) = 1.5 %, P(X < 33) = 4.2 %, so the lower end is the 32nd; P(X >= 40) = 1.5 %, so the upper
// end is the 40th.
TEST(QuantileInterval, OfTheNinetiethPercentileOfForty) {
  std::vector<double> values;
  for (int i = 1; i <= 40; ++i) {
    values.push_back(i);
  }
  const QuantileInterval interval = quantile_interval(values, 0.9);
  EXPECT_EQ(interval.count, 40);
  EXPECT_DOUBLE_EQ(interval.value, 36.1);
  EXPECT_DOUBLE_EQ(interval.lower, 32);
  EXPECT_DOUBLE_EQ(interval.upper, 40);
}

TEST(QuantileInterval, OfNothingIsZero) {
  EXPECT_EQ(quantile_interval({}, 0.9).count, 0);
}

TEST(Summary, FewSamplesGiveTheWholeRange) {
  const SampleSummary summary = summarise({3, 1, 2});
  EXPECT_DOUBLE_EQ(summary.lower, 1);
  EXPECT_DOUBLE_EQ(summary.upper, 3);
}

TEST(Summary, OneValueIsItsOwnInterval) {
  const SampleSummary summary = summarise({7});
  EXPECT_DOUBLE_EQ(summary.lower, 7);
  EXPECT_DOUBLE_EQ(summary.upper, 7);
  EXPECT_DOUBLE_EQ(summary.mad_sigma, 0);
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
