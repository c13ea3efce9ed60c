// tests/kernels/dtype_test.cpp - each dtype's bits: known values, rounding, range, and every pattern of 16 bits and
// less.
#include "kernels/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace apo {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(DTypes, NamesAreFoundAndOthersAreNot) {
  for (const DType dtype : kDTypes) {
    EXPECT_EQ(find_dtype(to_string(dtype)), dtype);
  }
  EXPECT_FALSE(find_dtype("fp32"));
  EXPECT_EQ(unit_roundoff(DType::bf16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(DType::i32), 0);
}

// IEEE 754 binary16 and the OCP 8-bit formats (arXiv 2209.05433, table 1).
TEST(DTypes, KnownBits) {
  EXPECT_EQ(to_bits(DType::f16, 1.0), 0x3c00u);
  EXPECT_EQ(to_bits(DType::f16, -2.0), 0xc000u);
  EXPECT_EQ(to_bits(DType::f16, 65504), 0x7bffu);
  EXPECT_EQ(to_bits(DType::f16, 65520), 0x7c00u) << "halfway to the next: infinity";
  EXPECT_EQ(to_bits(DType::f16, 0x1p-24), 1u);
  EXPECT_EQ(to_bits(DType::f16, 0x1p-25), 0u) << "a tie goes to even";
  EXPECT_EQ(to_bits(DType::e4m3, 448), 0x7eu);
  EXPECT_EQ(to_bits(DType::e4m3, 1e6), 0x7eu) << "it has no infinity";
  EXPECT_EQ(from_bits(DType::e4m3, 0x08), 0x1p-6);
  EXPECT_EQ(from_bits(DType::e4m3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(from_bits(DType::e4m3, 0x7f)));
  EXPECT_EQ(to_bits(DType::e5m2, 57344), 0x7bu);
  EXPECT_EQ(from_bits(DType::e5m2, 0x7c), kEndless);
  EXPECT_EQ(to_bits(DType::e5m2, 1.125), to_bits(DType::e5m2, 1.0)) << "a tie goes to even";
}

TEST(DTypes, EveryPatternOfASmallFloatComesBack) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::e4m3, DType::e5m2}) {
    const std::uint64_t patterns = 1ull << (8 * dtype_bytes(dtype));
    for (std::uint64_t bits = 0; bits < patterns; ++bits) {
      const double value = from_bits(dtype, bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(round_to(dtype, value)));
      } else {
        ASSERT_EQ(to_bits(dtype, value), bits) << to_string(dtype) << " " << value;
      }
    }
  }
}

TEST(DTypes, IntegersRoundToEvenAndStayInRange) {
  EXPECT_EQ(round_to(DType::i32, 2.5), 2);
  EXPECT_EQ(round_to(DType::i8, 300), 127);
  EXPECT_EQ(round_to(DType::i8, -300), -128);
  EXPECT_EQ(round_to(DType::u8, -1), 0);
  EXPECT_EQ(round_to(DType::u8, 255), 255);
  EXPECT_EQ(round_to(DType::i64, -1e30), -0x1p63);
  EXPECT_EQ(round_to(DType::i16, -32768), -32768);
  EXPECT_EQ(round_to(DType::i32, std::numeric_limits<double>::quiet_NaN()), -2147483648.0);
  EXPECT_EQ(round_to(DType::boolean, 0.5), 1);
  EXPECT_EQ(from_bits(DType::boolean, 0xff), 255) << "poison is no bool";
}

}  // namespace
}  // namespace apo
