// tests/profile/host/host_profile_test.cpp - the assembled profile against numbers worked out by hand.
#include "harness/profile/host/host_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace apo {
namespace {

Roof roof_of(const char* name, double value) {
  return {.name = name, .value = value, .lower = value, .upper = value, .samples = 9};
}

// 1 ms at two threads and 1.6 ms at one; 2 Mflop, 1 MB and 0.1 M special functions a call.
ProfileInputs inputs() {
  return {.configuration = {.variant = "toy/one", .settings = {}},
          .workload = "w",
          .work = {.flops = 2e6, .bytes = 1e6, .special_functions = 1e5},
          .times = {{.threads = 2, .ns = {1.0e6, 0.9e6, 1.1e6}}, {.threads = 1, .ns = {1.6e6, 1.6e6, 1.6e6}}},
          .roofs = {roof_of("fp32_fma", 1e10), roof_of("special_tanh", 1e9), roof_of("l2_copy", 2e10),
                    roof_of("llc_copy", 8e9), roof_of("memory_copy", 4e9)},
          .l2_bytes = 100000,
          .l3_bytes = 10000000,
          .counters = {{.name = "cycles", .value = 3e7}, {.name = "instructions", .value = 6e7}},
          .counted_calls = 10};
}

bool has(const Profile& profile, const std::string& name) {
  return !std::isnan(profile.metric(name));
}

TEST(HostProfile, TimeIsTheMedianAtMostThreads) {
  const Profile profile = assemble_profile(inputs());
  EXPECT_DOUBLE_EQ(profile.time_ns, 1e6);
  EXPECT_DOUBLE_EQ(profile.metric("time"), 1e6);
  EXPECT_DOUBLE_EQ(profile.metric("threads"), 2);
  EXPECT_DOUBLE_EQ(profile.metric("time_t1"), 1.6e6);
  EXPECT_NEAR(profile.metric("spread"), 0.14826, 1e-9);
}

TEST(HostProfile, RatesAreWorkPerTime) {
  const Profile profile = assemble_profile(inputs());
  EXPECT_DOUBLE_EQ(profile.metric("gflops"), 2.0);         // 2e6 flop / 1e6 ns
  EXPECT_DOUBLE_EQ(profile.metric("gb_per_s"), 1.0);       // 1e6 byte / 1e6 ns
  EXPECT_DOUBLE_EQ(profile.metric("special_per_s"), 1e8);  // 1e5 / 1 ms
  EXPECT_DOUBLE_EQ(profile.metric("intensity"), 2.0);
}

// Speed-up 1.6 on 2: (2 / 1.6 - 1) / (2 - 1) = 0.25.
TEST(HostProfile, ScalingGivesAmdahlsSerialFraction) {
  const Profile profile = assemble_profile(inputs());
  EXPECT_DOUBLE_EQ(profile.metric("scaling"), 1.6);
  EXPECT_DOUBLE_EQ(profile.metric("serial_fraction"), 0.25);
}

// flops: 2e6 / 1e10 = 200 us; special: 1e5 / 1e9 = 100 us; bytes at llc: 1e6 / 8e9 = 125 us.
TEST(HostProfile, FloorIsTheLargestShareAndNamesItsRoof) {
  const Profile profile = assemble_profile(inputs());
  EXPECT_DOUBLE_EQ(profile.floor_ns, 2e5);
  EXPECT_EQ(profile.floor_roof, "fp32_fma");
  EXPECT_DOUBLE_EQ(profile.floor_fraction, 0.2);
  EXPECT_DOUBLE_EQ(profile.metric("floor_flops"), 2e5);
  EXPECT_DOUBLE_EQ(profile.metric("floor_special"), 1e5);
  EXPECT_DOUBLE_EQ(profile.metric("floor_bytes"), 1.25e5);
}

TEST(HostProfile, RooflineIsTheLowerOfBothCeilings) {
  ProfileInputs in = inputs();  // intensity 2 x 8e9 = 1.6e10, above 1e10
  EXPECT_DOUBLE_EQ(assemble_profile(in).metric("roofline"), 1e10);
  EXPECT_DOUBLE_EQ(assemble_profile(in).metric("roofline_fraction"), 0.2);
  in.work.bytes = 8e6;  // intensity 0.25 x 8e9 = 2e9, and 8e6 bytes still fit the last-level cache
  EXPECT_DOUBLE_EQ(assemble_profile(in).metric("roofline"), 2e9);
  EXPECT_DOUBLE_EQ(assemble_profile(in).metric("roofline_fraction"), 1.0);
  EXPECT_EQ(assemble_profile(in).floor_roof, "llc_copy");
}

TEST(HostProfile, FloorTakesTheUpperEndOfARoof) {
  ProfileInputs in = inputs();
  in.roofs[0].upper = 2e10;
  EXPECT_DOUBLE_EQ(assemble_profile(in).floor_ns, 1.25e5);
  EXPECT_EQ(assemble_profile(in).floor_roof, "llc_copy");
}

TEST(HostProfile, CopyRoofFollowsTheFootprint) {
  EXPECT_EQ(copy_roof_for(2e5, 2, 100000, 10000000), "l2_copy");
  EXPECT_EQ(copy_roof_for(2.1e5, 2, 100000, 10000000), "llc_copy");
  EXPECT_EQ(copy_roof_for(1.1e7, 2, 100000, 10000000), "memory_copy");
  EXPECT_EQ(copy_roof_for(1e3, 1, 0, 0), "memory_copy");
}

TEST(HostProfile, AnUnmeasuredCacheLevelNeverRaisesTheFloor) {
  ProfileInputs in = inputs();
  in.roofs.erase(in.roofs.begin() + 3);  // llc_copy
  in.work = {.flops = 0, .bytes = 1e6, .special_functions = 0};
  EXPECT_EQ(assemble_profile(in).floor_roof, "l2_copy");
}

TEST(HostProfile, CountersArePerCall) {
  const Profile profile = assemble_profile(inputs());
  EXPECT_DOUBLE_EQ(profile.metric("cycles"), 3e6);
  EXPECT_DOUBLE_EQ(profile.metric("ipc"), 2.0);
  EXPECT_DOUBLE_EQ(profile.metric("instructions_per_flop"), 3.0);
}

TEST(HostProfile, MissingCountersLeaveNoDerivedMetric) {
  ProfileInputs in = inputs();
  in.counters.clear();
  in.missing = "no cycles: no PMU";
  const Profile profile = assemble_profile(in);
  EXPECT_FALSE(has(profile, "ipc"));
  EXPECT_FALSE(has(profile, "instructions_per_flop"));
  EXPECT_EQ(profile.missing, "no cycles: no PMU");
}

TEST(HostProfile, NoMetricIsEverNaNOrInfinite) {
  const double nan = std::nan("");
  ProfileInputs hostile = inputs();
  hostile.work = {};
  hostile.times = {{.threads = 2, .ns = {nan, 0, -5, std::numeric_limits<double>::infinity()}}};
  hostile.counted_calls = 0;
  hostile.roofs = {roof_of("fp32_fma", 0), roof_of("memory_copy", nan)};
  ProfileInputs no_work = inputs();
  no_work.work = {};
  for (const ProfileInputs& in : {hostile, no_work, ProfileInputs{}}) {
    const Profile profile = assemble_profile(in);
    for (const Metric& metric : profile.metrics) {
      EXPECT_TRUE(std::isfinite(metric.value)) << metric.name;
    }
    EXPECT_TRUE(std::isfinite(profile.floor_fraction));
    EXPECT_DOUBLE_EQ(profile.floor_ns, 0);
  }
  EXPECT_DOUBLE_EQ(assemble_profile(hostile).time_ns, 0);
}

TEST(HostProfile, OneThreadHasNoScaling) {
  ProfileInputs in = inputs();
  in.times.erase(in.times.begin());
  EXPECT_FALSE(has(assemble_profile(in), "scaling"));
  EXPECT_DOUBLE_EQ(assemble_profile(in).time_ns, 1.6e6);
}

TEST(ProfilePlan, AsksForOneThreadAndAllAndPowersOfTwoBetween) {
  EXPECT_EQ(plan_host_profile(1, 1e6, 1).thread_counts, (std::vector<int>{1}));
  EXPECT_EQ(plan_host_profile(2, 1e6, 1).thread_counts, (std::vector<int>{1, 2}));
  EXPECT_EQ(plan_host_profile(6, 1e6, 1).thread_counts, (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(plan_host_profile(0, 1e6, 1).thread_counts, (std::vector<int>{1}));
}

TEST(ProfilePlan, FitsItsBudgetWhereFiveCallsAllow) {
  EXPECT_LE(plan_host_profile(2, 1e7, 2).seconds, 2.2);
  EXPECT_EQ(plan_host_profile(2, 1e3, 2).timed_calls, 60);
  EXPECT_EQ(plan_host_profile(2, 1e10, 2).timed_calls, 5);
  EXPECT_GE(plan_host_profile(2, std::nan(""), 0).timed_calls, 5);
}

TEST(HostProfile, ThePhysicalFloorIgnoresHowSpecialFunctionsAreComputed) {
  const std::vector<Roof> roofs = {{.name = "fp32_fma", .value = 90, .unit = "flop/s", .upper = 100},
                                   {.name = "l2_copy", .value = 9, .unit = "byte/s", .upper = 10},
                                   {.name = "memory_copy", .value = 4, .unit = "byte/s", .upper = 5},
                                   {.name = "special_tanh", .value = 1, .unit = "op/s", .upper = 1}};
  const Work work{.flops = 1000, .bytes = 50, .special_functions = 1e6};
  EXPECT_DOUBLE_EQ(physical_floor_ns(work, roofs), kPhysicalSlack * 10e9);
  EXPECT_EQ(physical_floor_ns(work, {}), 0);
}

}  // namespace
}  // namespace apo
