// tests/kernels/rounding_test.cpp - bf16 rounding against a search for the nearest value.
#include "kernels/rounding.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/random.h"

namespace apo {
namespace {

double value_of(std::uint32_t bits) {
  return static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(bits)));
}

// The finite or infinite bf16 nearest to a positive value, ties to even, by bisection over the bit patterns.
std::uint16_t nearest(double value) {
  std::uint32_t low = 0, high = 0x7f80;  // 0 .. infinity
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (value_of(middle) <= value ? low : high) = middle;
  }
  // Infinity counts as the value that would follow the largest finite one.
  const double above = high == 0x7f80 ? 0x1p128 : value_of(high);
  const double down = value - value_of(low), up = above - value;
  const bool takes_low = down < up || (down == up && low % 2 == 0);
  return static_cast<std::uint16_t>(takes_low ? low : high);
}

TEST(Rounding, MidpointsGoToEvenAndTheirNeighboursToTheNearest) {
  for (std::uint32_t bits = 0; bits + 1 < 0x7f80; ++bits) {
    const double middle = (value_of(bits) + value_of(bits + 1)) / 2;
    ASSERT_EQ(double_to_bf16(middle), bits + bits % 2) << bits;
    // These differ from the midpoint by less than float can tell, so a rounding through float would lose them.
    ASSERT_EQ(double_to_bf16(std::nextafter(middle, 0.0)), bits) << bits;
    ASSERT_EQ(double_to_bf16(std::nextafter(middle, 1e300)), bits + 1) << bits;
  }
}

TEST(Rounding, RandomDoublesGoToTheNearest) {
  Random random(5);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::ldexp(random.uniform(), static_cast<int>(random.below(290)) - 150);
    ASSERT_EQ(double_to_bf16(value), nearest(value)) << value;
    ASSERT_EQ(double_to_bf16(-value), nearest(value) | 0x8000u) << value;
  }
}

TEST(Rounding, OverflowIsInfinityAndNanStaysNan) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(double_to_bf16(0x1.ffp127), 0x7f80);  // half-way to 2^128
  EXPECT_EQ(double_to_bf16(0x1.fefffp127), 0x7f7f);
  EXPECT_EQ(double_to_bf16(kInfinity), 0x7f80);
  EXPECT_EQ(double_to_bf16(-kInfinity), 0xff80);
  EXPECT_TRUE(std::isnan(round_to_bf16(std::nan(""))));
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001u)))));  // payload in the low bits
}

}  // namespace
}  // namespace apo
