// tests/kernels/powers_test.cpp - the polynomials of pow_backward's variants, also where no regime of the family draws.
#include "variants/common/powers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

constexpr double kUlp = 0x1p-23;

TEST(Powers, OfTwoAreWithinTwoUlpsAndOverflowAndUnderflowAsInTheLibrary) {
  for (float x = -126; x < 127.99f; x += 0.00371f) {
    EXPECT_NEAR(exp2_of(x) / std::exp2(static_cast<double>(x)), 1, 2 * kUlp) << x;
  }
  for (const float x : {128.0f, 200.0f, 1e9f, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(exp2_of(x), std::numeric_limits<float>::infinity()) << x;
    EXPECT_EQ(exp2_of(-2 * x), 0) << x;
  }
  EXPECT_NEAR(exp2_of(-130.0f), 0x1p-130, 0x1p-149);
}

TEST(Powers, LogarithmIsWithinTwoUlpsNearOneToo) {
  EXPECT_EQ(log2_of(1), 0);
  for (float x = std::numeric_limits<float>::min(); x < 1e38f; x *= 1.00137f) {
    const double exact = std::log2(static_cast<double>(x));
    EXPECT_NEAR(log2_of(x), exact, 2 * kUlp * std::fabs(exact)) << x;
  }
  for (const float apart : {-1e-2f, -1e-4f, -1e-6f, 1e-6f, 1e-4f, 1e-2f}) {
    const double exact = std::log2(static_cast<double>(1 + apart));
    EXPECT_NEAR(log2_of(1 + apart), exact, 2 * kUlp * std::fabs(exact)) << apart;
  }
}

}  // namespace
