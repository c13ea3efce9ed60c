// tests/reports/shrinkage_test.cpp - accepted effects with their luck taken off.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/random.h"
#include "reports/model.h"

namespace apo::report {
namespace {

constexpr double kZ = 2.326348;  // of a 98 % interval

Judgement judged(double effect, double error) {
  return {.effect = effect, .lower = effect - kZ * error, .upper = effect + kZ * error, .confidence = 0.98};
}

TEST(Shrinkage, AnEffectOfTenErrorsKeepsAllButAHundredth) {
  EXPECT_NEAR(shrunken_effect(judged(0.10, 0.01)), 0.099, 1e-6);
  EXPECT_NEAR(shrunken_effect(judged(kZ * 0.01, 0.01)), kZ * 0.01 * 0.8152, 1e-6);
}

TEST(Shrinkage, NothingIsLeftOfAnEffectBelowItsErrorAndSignsStay) {
  EXPECT_EQ(shrunken_effect(judged(0.005, 0.01)), 0);
  EXPECT_EQ(shrunken_effect(judged(0, 0.01)), 0);
  EXPECT_LT(shrunken_effect(judged(-0.1, 0.01)), -0.09);
}

TEST(Shrinkage, WithoutAnIntervalThereIsNoNumber) {
  Judgement open = judged(0.1, 0.01);
  open.lower = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(shrunken_effect(open)));
  EXPECT_TRUE(std::isnan(shrunken_effect(judged(std::nan(""), 0.01))));
}

// Many small gains, of which the lucky ones are accepted: the shrunken sum is nearer to the truth than the naive one.
TEST(Shrinkage, OfTheLuckyOnesIsNearerToTheTruth) {
  Random random(3);
  const double error = 0.004;
  double truth = 0;
  double naive = 0;
  double shrunken = 0;
  for (int i = 0; i < 20000; ++i) {
    const double gain = 0.004 * random.normal();
    const double seen = gain + error * random.normal();
    if (seen > kZ * error) {
      truth += gain;
      naive += seen;
      shrunken += shrunken_effect(judged(seen, error));
    }
  }
  EXPECT_GT(naive, 1.3 * truth);
  EXPECT_LT(std::fabs(shrunken - truth), 0.8 * std::fabs(naive - truth));
}

}  // namespace
}  // namespace apo::report
