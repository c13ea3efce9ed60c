// tests/kernels/common_of_variants_test.cpp - what shipped variants share, where no regime draws and no workload calls:
// the polynomials of pow_backward, and the binary backward along rows.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "variants/common/broadcast_rows.h"
#include "variants/common/powers.h"

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

// [4, 8], of which B keeps the first dimension.
struct Args {
  const float *g, *A, *B;
  float *dA, *dB;
  int64_t op = 2, need_dA = 1, need_dB = 0, kept = 2;
  int64_t d0 = 1, d1 = 1, d2 = 1, d3 = 1, d4 = 1, d5 = 1, d6 = 4, d7 = 8;
};

template <Stores kStores>
void expect_products() {
  std::array<float, 32> g{}, dA{};
  std::array<float, 4> B = {1, 2, 3, 4};
  g.fill(0.5F);
  const Args args{.g = g.data(), .A = nullptr, .B = B.data(), .dA = dA.data(), .dB = nullptr};
  const Broadcast shape = compressed(args);
  with_element(args,
               [&](auto element) { binary_backward_part<kStores>(element, args, shape, 0, shape.elements, args.dB); });
  for (size_t i = 0; i < dA.size(); ++i) {
    EXPECT_EQ(dA.at(i), 0.5F * B.at(i / 8)) << i;
  }
}

TEST(BroadcastRows, AGradientThatIsNotWantedIsNotWrittenWhereARowSharesAnElement) {
  expect_products<Stores::cached>();
  expect_products<Stores::streaming>();
}

}  // namespace
