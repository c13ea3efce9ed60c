// tests/evaluate/rounds/clocks_test.cpp - clocks that disagree are seen; waiting for quiet ends either way.
#include "harness/evaluate/rounds/clocks.h"

#include <gtest/gtest.h>

#include "tests/text.h"

namespace apo {
namespace {

TEST(Clocks, TheTickCounterIsMeasuredAsPositive) {
  EXPECT_GT(measured_ns_per_tick(), 0);
}

RawSample recorded(std::int64_t host_ns, std::int64_t events_ns, std::int64_t activity_ns, std::int64_t kernels = 1) {
  return {.slot = 1,
          .begin_ns = 7,
          .end_ns = 7 + host_ns,
          .device_ns = events_ns,
          .activity_ns = activity_ns,
          .activity_kernels = kernels};
}

std::optional<GpuClockDisagreement> gpu_wrong(const RawSample& sample, std::int64_t kernels = 1) {
  return gpu_clock_disagreement({sample}, {77, kernels});
}

TEST(GpuClocks, EventsThatReadAFewMicrosecondsMoreAgree) {
  EXPECT_FALSE(gpu_wrong(recorded(40'000, 7'900, 3'300))) << "as measured on an H200";
  EXPECT_FALSE(gpu_wrong(recorded(200'000, 131'500, 125'900)));
  EXPECT_FALSE(gpu_wrong(recorded(60'000'000, 51'000'000, 50'000'000))) << "2 % of a long kernel";
  EXPECT_FALSE(gpu_wrong(recorded(60'000'000, 50'000'000, 50'020'000))) << "two oscillators";
  EXPECT_FALSE(gpu_clock_disagreement({}, {1, 1}));
}

TEST(GpuClocks, WorkThatTheEventsDoNotSeeIsNamedWithBothNumbers) {
  const auto wrong = gpu_wrong(recorded(2'000'000, 120'000, 900'000));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->slot, 1);
  expect_contains(wrong->evidence, "the events say 120 us");
  expect_contains(wrong->evidence, "CUPTI Activity 900 us");
}

TEST(GpuClocks, EventsFarLongerThanTheKernelsAreADisagreement) {
  EXPECT_TRUE(gpu_wrong(recorded(200'000, 150'000, 100'000)));
  EXPECT_FALSE(gpu_wrong(recorded(200'000, 109'000, 100'000))) << "within 10 us";
  EXPECT_FALSE(gpu_wrong(recorded(200'000, 150'000, 100'000), 0)) << "host code beside its kernels";
}

TEST(GpuClocks, AHostThatWaitedLessThanTheEventsIsADisagreement) {
  const auto wrong = gpu_wrong(recorded(50'000, 100'000, 98'000));
  ASSERT_TRUE(wrong);
  expect_contains(wrong->evidence, "the host waited 50 us");
}

TEST(GpuClocks, AnotherNumberOfKernelsIsADisagreement) {
  const auto wrong = gpu_wrong(recorded(200'000, 104'000, 100'000, 3), 4);
  ASSERT_TRUE(wrong);
  expect_contains(wrong->evidence, "recorded 3 kernels where 4 were launched");
  EXPECT_TRUE(gpu_wrong(recorded(200'000, 104'000, 0, 0), 4)) << "no record at all";
  EXPECT_FALSE(gpu_wrong(recorded(200'000, 104'000, 100'000, 3), 0)) << "nobody knows how many";
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
