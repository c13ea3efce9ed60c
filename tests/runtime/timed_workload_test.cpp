// tests/runtime/timed_workload_test.cpp - how much is drawn at a time.
#include "harness/runtime/timed_workload.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

TEST(DrawnTogether, IsWhatAThirdOfTheMemoryHoldsAndOneSetInAnyCase) {
  EXPECT_EQ(drawn_together(kGigabyte, 128 * kGigabyte), 5U);
  EXPECT_EQ(drawn_together(kGigabyte, 16 * kGigabyte), 1U);
  EXPECT_EQ(drawn_together(100 * kGigabyte, kGigabyte), 1U);
  EXPECT_GT(drawn_together(0, kGigabyte), 1'000'000U) << "what is small is bounded by the threads alone";
}

}  // namespace
}  // namespace apo
