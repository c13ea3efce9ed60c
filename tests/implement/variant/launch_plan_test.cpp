// tests/implement/variant/launch_plan_test.cpp - launches become numbers, and what a device cannot run is refused in
// words.
#include "harness/implement/variant/launch_plan.h"

#include <gtest/gtest.h>

#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

DeviceFacts small_gpu() {
  return {.name = "small", .major = 9, .sms = 4, .threads_per_block = 1024, .shared_per_block = 100'000};
}

PlannedLaunches planned(const std::string& lines, const DeviceFacts& device = small_gpu(),
                        std::int64_t static_shared = 0, const Settings& settings = {}) {
  const Variant variant = parse_variant(cuda_source(lines + "\n"), "a.cu");
  return plan_launches(*find_family("copy"), variant, {{"n", 1000}}, settings, device,
                       {{.name = "k", .shared_bytes = static_shared}, {.name = "second"}});
}

TEST(LaunchPlan, SeesAxesTunablesAndTheDevice) {
  const std::string lines =
      "// apo:tune W 2,4\n"
      "// apo:launch k grid=ceil_div(n,32*W),2 block=32*W,1,2 shared=SHARED_MAX/2 cluster=1,2 cooperative=1 "
      "l2_persist=2\n"
      "// apo:launch second grid=SMS block=MAX_THREADS";
  const PlannedLaunches result = planned(lines, small_gpu(), 0, {{"W", 4}});
  ASSERT_EQ(result.outcome, Outcome::valid) << result.evidence;
  ASSERT_EQ(result.plan.launches.size(), 2u);
  const KernelLaunch expected{.kernel = "k",
                              .grid = {8, 2, 1},
                              .block = {128, 1, 2},
                              .cluster = {1, 2, 1},
                              .shared_bytes = 50'000,
                              .cooperative = true,
                              .persist = 2};
  EXPECT_EQ(result.plan.launches[0], expected);
  EXPECT_EQ(result.plan.launches[1], (KernelLaunch{.kernel = "second", .grid = {4, 1, 1}, .block = {1024, 1, 1}}));
}

void expect_refused(const std::string& attributes, const std::string& why, const DeviceFacts& device = small_gpu(),
                    std::int64_t static_shared = 0) {
  const PlannedLaunches result = planned("// apo:launch k " + attributes, device, static_shared);
  EXPECT_EQ(result.outcome, Outcome::refused) << attributes;
  EXPECT_TRUE(result.plan.launches.empty());
  expect_contains(result.evidence, why);
}

// Each size is at least one, and within the limits of the device; clusters divide the grid; copy has two tensors.
TEST(LaunchPlan, WhatTheDeviceCannotLaunchIsRefusedInWords) {
  const std::pair<const char*, const char*> kLaunches[] = {
      {"grid=n-1000 block=32", "the launch of k: grid=n-1000 gives 0, and at least 1 is needed"},
      {"grid=1 block=n-1001", "block=n-1001 gives -1"},
      {"grid=1 block=32 cluster=0", "cluster=0 gives 0"},
      {"grid=1 block=32 shared=-4", "shared=-4 gives -4"},
      {"grid=1 block=1025", "a block of 1025x1x1 threads is more than the 1024"},
      {"grid=1 block=64,32", "a block of 64x32x1 threads"},
      {"grid=1 block=1,1,65", "z up to 64"},
      {"grid=1 block=2147483647,2147483647,64", "threads is more than"},
      {"grid=1,65536 block=1", "y and z go up to 65535"},
      {"grid=2147483648 block=1", "more than 2^31-1"},
      {"grid=1 block=1 shared=SHARED_MAX+1", "outside 0 to 100000 bytes of this device"},
      {"grid=3 block=1 cluster=2", "does not divide the grid of 3x1x1"},
      {"grid=34 block=1 cluster=17", "is more than 16"},
      {"grid=1 block=1 cooperative=2", "outside 0 to 1"},
      {"grid=1 block=1 l2_persist=3", "outside 0 to 2"},
      {"grid=1/(n-1000) block=1", "grid=1/(n-1000)"}};
  for (const auto& [attributes, why] : kLaunches) {
    expect_refused(attributes, why);
  }
  expect_refused("grid=1 block=1 shared=SHARED_MAX",
                 "100008 bytes of shared memory (8 static) are more than the 100000", small_gpu(), 8);
  DeviceFacts ampere = small_gpu();
  ampere.major = 8;
  expect_refused("grid=2 block=1 cluster=2", "clusters need sm_90, and this device is sm_80", ampere);
}

TEST(LaunchPlan, AKernelThatIsNotThereIsNamed) {
  const PlannedLaunches result = planned("// apo:launch missing grid=1 block=1");
  EXPECT_EQ(result.outcome, Outcome::wrong_abi);
  expect_contains(result.evidence, "no kernel 'missing' (it has k, second): declare it extern \"C\" __global__");
}

TEST(LaunchPlan, TextTellsPlansApartButNotNames) {
  const LaunchPlan plan = planned("// apo:launch k grid=2 block=32").plan;
  LaunchPlan renamed = plan;
  renamed.launches[0].kernel = "another";
  LaunchPlan wider = plan;
  wider.launches[0].block = {64, 1, 1};
  EXPECT_EQ(plan_text(plan), plan_text(renamed));
  EXPECT_NE(plan_text(plan), plan_text(wider));
}

TEST(LaunchPlan, TheDepthOfAGridHasTheLimitOfItsHeight) {
  expect_contains(planned("// apo:launch k grid=1,1,65536 block=1").evidence, "y and z go up to 65535");
}

}  // namespace
}  // namespace apo
