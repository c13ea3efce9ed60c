// tests/kernels/broadcast_rows_test.cpp - the binary backward along rows, for calls that no workload makes.
#include "variants/common/broadcast_rows.h"

#include <gtest/gtest.h>

#include <array>

namespace {

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
