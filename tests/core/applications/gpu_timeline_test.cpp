// tests/core/applications/gpu_timeline_test.cpp - busy and idle times of overlapping, disordered and many intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "harness/core/applications/application_profile.h"

namespace apo {
namespace {

std::int64_t idle(const DeviceBusy& busy) {
  return std::accumulate(busy.gaps.begin(), busy.gaps.end(), std::int64_t{0},
                         [](std::int64_t sum, const Gaps& gaps) { return sum + gaps.ns; });
}

TEST(GpuTimeline, OverlappingWorkIsBusyOnce) {
  GpuTimeline timeline;
  timeline.add(1'000, 3'000);
  timeline.add(2'000, 5'000);
  timeline.add(5'000, 6'000);  // touches
  timeline.add(9'000, 10'000);
  const DeviceBusy busy = timeline.busy();
  EXPECT_EQ(busy.first_ns, 1'000);
  EXPECT_EQ(busy.last_ns, 10'000);
  EXPECT_EQ(busy.busy_ns, 6'000);
  EXPECT_EQ(idle(busy), 3'000);
  EXPECT_EQ(busy.gaps[1].count, 1) << "3 us is longer than 1 us and no longer than 10 us";
  EXPECT_EQ(busy.longest_gap_ns, 3'000);
}

TEST(GpuTimeline, WithoutWorkIsAllZero) {
  EXPECT_EQ(GpuTimeline().busy().span_ns(), 0);
  EXPECT_EQ(GpuTimeline().busy().busy_ns, 0);
}

TEST(GpuTimeline, LateWorkThatFillsAGapJoinsItsNeighbours) {
  GpuTimeline timeline;
  timeline.add(100, 200);
  timeline.add(300, 400);
  timeline.add(150, 350);
  EXPECT_EQ(timeline.busy().busy_ns, 300);
  EXPECT_EQ(idle(timeline.busy()), 0);
}

TEST(GpuTimeline, EveryOrderGivesTheSame) {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  std::mt19937 random(7);
  for (std::int64_t start = 0; start < 20'000; start += 100) {
    intervals.emplace_back(start, start + static_cast<std::int64_t>(random() % 180));
  }
  DeviceBusy reference;
  for (int order = 0; order < 20; ++order) {
    GpuTimeline timeline;
    for (const auto& [start, end] : intervals) {
      timeline.add(start, end);
    }
    reference = order == 0 ? timeline.busy() : reference;
    EXPECT_EQ(timeline.busy().busy_ns, reference.busy_ns);
    EXPECT_EQ(timeline.busy().gaps[0].count, reference.gaps[0].count);
    std::shuffle(intervals.begin(), intervals.end(), random);
  }
}

TEST(GpuTimeline, BoundedMemoryKeepsSumsExactForNearlyOrderedWork) {
  GpuTimeline bounded(16);
  GpuTimeline unbounded;
  std::mt19937 random(3);
  for (std::int64_t i = 0; i < 5'000; ++i) {
    const std::int64_t start = 1'000 * i + 1 - (i % 4) * 1'500 + 10'000;  // up to four places too late
    const std::int64_t end = start + 200 + static_cast<std::int64_t>(random() % 700);
    bounded.add(start, end);
    unbounded.add(start, end);
  }
  EXPECT_EQ(bounded.busy().busy_ns, unbounded.busy().busy_ns);
  EXPECT_EQ(bounded.busy().first_ns, unbounded.busy().first_ns);
  EXPECT_EQ(bounded.busy().late, 0);
}

TEST(GpuTimeline, WorkThatComesFarTooLateIsCountedAndNeverMakesTimesContradict) {
  GpuTimeline timeline(4);
  for (std::int64_t i = 0; i < 100; ++i) {
    timeline.add(1'000 + 100 * i, 1'050 + 100 * i);
  }
  timeline.add(0, 20);
  timeline.add(10, 1'000'000);
  const DeviceBusy busy = timeline.busy();
  EXPECT_EQ(busy.late, 2);
  EXPECT_EQ(busy.first_ns, 1'000);
  EXPECT_EQ(busy.last_ns, 1'000'000);
  EXPECT_EQ(busy.busy_ns + idle(busy), busy.span_ns());
}

}  // namespace
}  // namespace apo
