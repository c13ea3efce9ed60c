// tests/evaluate/rounds/clocks_test.cpp - the tick is measured; waiting for quiet ends either way.
#include "harness/evaluate/rounds/clocks.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(Clocks, TheTickCounterIsMeasuredAsPositive) {
  EXPECT_GT(measured_ns_per_tick(), 0);
}

TEST(Quiet, AStolenCpuIsWaitedFor) {
  std::uint64_t now = 0;
  int looks = 0;
  const auto read = [&] {
    now += 100;
    ++looks;
    return CpuTicks{.total = now, .steal = looks <= 4 ? now / 2 : 100};
  };
  double slept = 0;
  EXPECT_TRUE(wait_for_quiet(60, read, [&](double seconds) { slept += seconds; }));
  EXPECT_GT(slept, 0.3);
}

TEST(Quiet, PatienceEnds) {
  std::uint64_t now = 0;
  const auto read = [&] {
    now += 100;
    return CpuTicks{.total = now, .steal = now / 2};
  };
  double slept = 0;
  EXPECT_FALSE(wait_for_quiet(2, read, [&](double seconds) { slept += seconds; }));
  EXPECT_LE(slept, 3);
}

}  // namespace
}  // namespace apo
