// tests/profile/gpu/occupancy_test.cpp - residency of launches whose limits were worked out by hand for an H200's SMs.
#include "harness/profile/gpu/occupancy.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

constexpr SmLimits kHopper{.sms = 132, .threads = 2048, .blocks = 32, .registers = 65536, .shared_bytes = 233472};

// 40 registers are 1280 a warp: 12 warps in each quarter of the SM, 48 in all, so 6 blocks of 8 warps.
TEST(Occupancy, RegistersAreHandedOutToWholeWarps) {
  const Occupancy found = occupancy_of({.blocks = 7920, .threads = 256, .registers = 40}, kHopper);
  EXPECT_EQ(found.blocks_per_sm, 6);
  EXPECT_EQ(found.limiter, BlockLimiter::registers);
  EXPECT_DOUBLE_EQ(found.occupancy, 0.75);
  EXPECT_DOUBLE_EQ(found.waves, 10);
  EXPECT_DOUBLE_EQ(found.idle_share, 0);
}

// 20576 bytes and the system's 1024 are 21600, in units of 128 21632: ten of them are 216320, eleven are too many.
TEST(Occupancy, SharedMemoryCountsTheSystemsPart) {
  const Occupancy found =
      occupancy_of({.blocks = 1320, .threads = 32, .registers = 32, .shared_bytes = 20576}, kHopper);
  EXPECT_EQ(found.blocks_per_sm, 10);
  EXPECT_EQ(found.limiter, BlockLimiter::shared_memory);
  EXPECT_DOUBLE_EQ(found.occupancy, 320.0 / 2048);
}

TEST(Occupancy, BlocksAndThreadsLimitToo) {
  EXPECT_EQ(occupancy_of({.blocks = 99999, .threads = 32, .registers = 16}, kHopper).limiter, BlockLimiter::blocks);
  EXPECT_EQ(occupancy_of({.blocks = 99999, .threads = 1024, .registers = 16}, kHopper).limiter, BlockLimiter::threads);
  EXPECT_EQ(occupancy_of({.blocks = 99999, .threads = 1024, .registers = 16}, kHopper).blocks_per_sm, 2);
}

// 1328 blocks of which 1320 fit at once: the second round holds 8, and the SMs idle for most of it.
TEST(Occupancy, ALastRoundOfAFewBlocksLeavesTheSmsIdle) {
  const Occupancy found =
      occupancy_of({.blocks = 1328, .threads = 32, .registers = 32, .shared_bytes = 20576}, kHopper);
  EXPECT_NEAR(found.waves, 1328.0 / 1320, 1e-12);
  EXPECT_NEAR(found.idle_share, 1 - 1328.0 / 2640, 1e-12);
}

// 200 blocks on 132 SMs: some have two, so that the SMs are 200 / 264 busy.
TEST(Occupancy, BlocksThatAllFitAreHeldToTheFullestSm) {
  const Occupancy found = occupancy_of({.blocks = 200, .threads = 256, .registers = 32}, kHopper);
  EXPECT_EQ(found.blocks_per_sm, 2);
  EXPECT_EQ(found.limiter, BlockLimiter::grid);
  EXPECT_NEAR(found.idle_share, 1 - 200.0 / 264, 1e-12);
  EXPECT_DOUBLE_EQ(found.occupancy, 0.25);
}

TEST(Occupancy, SaysNothingOfWhatDoesNotFitOrIsNotKnown) {
  EXPECT_EQ(occupancy_of({.blocks = 1, .threads = 1024, .registers = 255}, kHopper).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_of({.blocks = 1, .threads = 32, .shared_bytes = 1 << 20}, kHopper).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_of({}, kHopper).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_of({.blocks = 1, .threads = 32}, {}).blocks_per_sm, 0);
}

Machine hopper() {
  Machine machine{.target = Target::cuda, .cores = 132};
  machine.facts = {
      {"threads_per_sm", "2048"}, {"blocks_per_sm", "32"}, {"registers_per_sm", "65536"}, {"shared_per_sm", "233472"}};
  return machine;
}

double planned(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) {
      return metric.value;
    }
  }
  return -1;
}

TEST(OccupancyMetrics, AreThoseOfTheLaunchThatFillsAnSmLeast) {
  Build build{.resources = {{"registers", 32}, {"shared_bytes", 576}, {"spill_bytes", 8}}};
  build.plan.launches = {{.kernel = "normalise", .grid = {4224, 1, 1}, .block = {256, 1, 1}},
                         {.kernel = "backward", .grid = {1328, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 20000}};
  const std::vector<Metric> metrics = occupancy_metrics(build, hopper());
  EXPECT_EQ(planned(metrics, "blocks"), 1328);
  EXPECT_EQ(planned(metrics, "block_shared_bytes"), 20576);
  EXPECT_EQ(planned(metrics, "blocks_per_sm"), 10);
  EXPECT_EQ(planned(metrics, "spill_bytes"), 8);
}

// A launch that clears a few counters does not make a call of thousands of blocks one of a single block.
TEST(OccupancyMetrics, AreThoseOfTheKernelThatIsNamed) {
  Build build{.resources = {{"registers", 32}}};
  build.plan.launches = {{.kernel = "clear", .grid = {1, 1, 1}, .block = {256, 1, 1}},
                         {.kernel = "add", .grid = {1320, 1, 1}, .block = {256, 1, 1}}};
  EXPECT_EQ(planned(occupancy_metrics(build, hopper()), "blocks"), 1);
  EXPECT_EQ(planned(occupancy_metrics(build, hopper(), "add"), "blocks"), 1320);
  EXPECT_EQ(planned(occupancy_metrics(build, hopper(), "inlined_elsewhere"), "blocks"), 1) << "as without a name";
}

TEST(OccupancyMetrics, AreAbsentWithoutLaunchesOrFacts) {
  EXPECT_TRUE(occupancy_metrics({}, hopper()).empty());
  Build build{.resources = {{"registers", 32}}};
  build.plan.launches = {{.kernel = "k"}};
  EXPECT_FALSE(occupancy_metrics(build, hopper()).empty());
  Machine unknown = hopper();
  unknown.facts["blocks_per_sm"] = "many";
  EXPECT_TRUE(occupancy_metrics(build, unknown).empty());
}

}  // namespace
}  // namespace apo
