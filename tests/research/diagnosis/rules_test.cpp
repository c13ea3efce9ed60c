// tests/research/diagnosis/rules_test.cpp - each rule fires on its profile and not on a look-alike.
#include "harness/research/diagnosis/rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::by;
using fixtures::diagnosis;
using fixtures::expect_rules;
using fixtures::set_metric;
using fixtures::with;

// On a machine with two cores, where the second one makes the call `scaling` times as fast.
Diagnosis two_threads(Diagnosis d, double scaling) {
  return with(std::move(d), {{"threads", 2}, {"scaling", scaling}});
}

Diagnosis of_units(std::int64_t units, double scaling) {
  Diagnosis d = two_threads(diagnosis(10), scaling);
  d.units = units;
  return d;
}

Diagnosis e88(Diagnosis d) {
  d.incumbent.family = "e88_backward";
  return d;
}

Diagnosis with_scratch(double ms, double bytes) {
  Diagnosis d = diagnosis(ms);
  d.scratch_bytes = bytes;
  return d;
}

TEST(Amdahl, IsTheKnownFormula) {
  EXPECT_DOUBLE_EQ(amdahl(0.5, 2), 1 / 0.75);
  EXPECT_DOUBLE_EQ(amdahl(0, 100), 1);
  EXPECT_DOUBLE_EQ(amdahl(1, 50), 50);
  EXPECT_DOUBLE_EQ(amdahl(std::nan(""), 100), 1);
  EXPECT_NEAR(amdahl(7, INFINITY), 1000, 1e-6);
}

TEST(HostRules, NotVectorisedBelowTheScalarRateWhereNoVectorInstructionIs) {
  const auto call = [](double flops, double vector_share) {
    return with(diagnosis(10, {.flops = flops}), {{"vector_share", vector_share}});
  };
  expect_rules({
      {"20 Mflop in 10 ms are 2 Gflop/s; scalar code does 10, vectors 100", not_vectorised, call(2e7, 0), 50,
       "2 Gflop/s"},
      {"above the scalar rate", not_vectorised, call(3e8, 0)},
      {"15 Gflop/s are above it on one thread", not_vectorised, call(1.5e8, 0)},
      {"and below it on two", not_vectorised, two_threads(call(1.5e8, 0), 2), 200.0 / 15},
      {"libm explains the time", not_vectorised,
       with(diagnosis(10, {.flops = 1e6, .special_functions = 9.5e5}), {{"vector_share", 0}})},
      {"nobody looked at its code", not_vectorised, diagnosis(10, {.flops = 2e7})},
      {"vectors that wait for memory", not_vectorised, call(2e7, 0.8)},
      {"few vectors", not_vectorised, call(2e7, 0.1), 50},
  });
  EXPECT_EQ(not_vectorised(call(2e7, 0))->name, "not-vectorised");
}

TEST(HostRules, SpecialFunctionsWhoseRateExplainsTheTime) {
  Diagnosis exponentials = diagnosis(10, {.special_functions = 5e6});
  exponentials.profile.roofs.push_back(fixtures::roof("libm_exp_1", 1e9));
  const Diagnosis half = diagnosis(10, {.special_functions = 5e5}), most = diagnosis(10, {.special_functions = 4e5});
  expect_rules({
      {"5 ms of 10 at libm's rate, 0.1 ms at 5e9 a second", libm_special_functions, half, 1 / (0.5 + 0.5 / 50)},
      {"5e6 tanh would take 50 ms", libm_special_functions, diagnosis(10, {.special_functions = 5e6})},
      {"an exponential has a rate of its own", libm_special_functions,
       with(exponentials, {{std::string(kSpecialCount) + "exp", 5e6}}), 1 / (0.5 + 0.5 / 5), "1 Gop/s"},
      {"a few", libm_special_functions, diagnosis(10, {.special_functions = 9e4})},
      {"libm was replaced", libm_special_functions, by(half, "vectorised-tanh")},
      {"twice 0.4 M are executed: 8 of 10 ms, of which half is repeated", recomputed_special_functions, e88(most),
       1 / 0.6},
      {"the state is reused", recomputed_special_functions, by(e88(most), "reused-state")},
      {"a counter is believed more than the formulation", recomputed_special_functions,
       with(e88(most), {{"special_executed", 4e5}})},
  });
}

TEST(HostRules, CoresThatIdleAndThreadsThatTakeLongToStart) {
  expect_rules({
      {"the second core gives nothing", idle_cores, of_units(8, 1.02), 2 / 1.02},
      {"the second thread slowed the call down: no more than there are cores", idle_cores, of_units(8, 0.86), 2},
      {"three units that cannot be divided", idle_cores, of_units(3, 1.0), 1.5},
      {"one unit", idle_cores, of_units(1, 1.0)},
      {"they scale", idle_cores, of_units(8, 1.9)},
      {"one core", idle_cores, with(of_units(8, 1.0), {{"threads", 1}})},
      {"50 us of 200 us", thread_overhead, two_threads(diagnosis(0.2), 1.5), 4.0 / 3},
      {"a small serial call", thread_overhead, two_threads(diagnosis(0.2), 1.0)},
      {"a large call", thread_overhead, two_threads(diagnosis(20), 1.9)},
  });
}

// 50 us to start threads: nothing beside 10 ms, half of 0.1 ms.
TEST(IdleCores, OfAShortCallNameWhatStartingThreadsTakes) {
  for (const auto& [ms, named] : {std::pair(10.0, false), {0.1, true}}) {
    Diagnosis d = two_threads(diagnosis(ms), 1.0);
    d.units = 8;
    EXPECT_EQ(idle_cores(d)->evidence.find("what starting threads takes, up to 50") != std::string::npos, named) << ms;
  }
}

TEST(HostRules, MemoryAndLatency) {
  const auto latency = [](double ipc, double floor_bytes) {
    return with(diagnosis(10), {{"ipc", ipc}, {"floor_bytes", floor_bytes}});
  };
  expect_rules({
      {"copying takes 8 of 10 ms", memory_bound, with(diagnosis(10, {.bytes = 4e7}), {{"floor_bytes", 8e6}}), 1.25},
      {"copying is a minor part", memory_bound, with(diagnosis(10, {.bytes = 4e6}), {{"floor_bytes", 8e5}})},
      {"a low IPC without traffic: the floor's bound", latency_bound, latency(0.6, 1e5), 100},
      {"no counters", latency_bound, with(diagnosis(10), {{"floor_bytes", 1e5}})},
      {"a good IPC", latency_bound, latency(2.5, 1e5)},
      {"memory traffic", latency_bound, latency(0.6, 9e6)},
      {"8 MB written and read at 10 GB/s: 1.6 of 10 ms", segment_cache_traffic, with_scratch(10, 8e6), 1 / 0.84},
      {"scratch that fits the L2", segment_cache_traffic, with_scratch(0.1, 1e6)},
      {"2000 faults of 1 us: 2 of 10 ms", page_faults, with(diagnosis(10), {{"page_faults", 2000}}), 1.25},
      {"three", page_faults, with(diagnosis(10), {{"page_faults", 3}})},
  });
}

TEST(HostRules, Overheads) {
  Diagnosis launches = diagnosis(0.01);
  launches.incumbent.target = Target::cuda;
  launches.incumbent.launches.resize(2);
  Diagnosis timed_launches = launches;
  timed_launches.profile.roofs.push_back(fixtures::roof("launch_latency", 2e-6));
  expect_rules({
      {"five instructions a flop", instruction_overhead, with(diagnosis(10), {{"instructions_per_flop", 5}}), 10},
      {"few", instruction_overhead, with(diagnosis(10), {{"instructions_per_flop", 1.5}})},
      {"scalar arithmetic takes 2 ms and libm 3 ms of 10", per_step_overhead,
       diagnosis(10, {.flops = 2e7, .special_functions = 3e5}), 2},
      {"the family counts no arithmetic", per_step_overhead,
       with(diagnosis(10, {.bytes = 8e6}), {{"floor_bytes", 1e6}})},
      {"plain code explains the time", per_step_overhead, diagnosis(10, {.flops = 5e7, .special_functions = 4e5})},
      {"20 of 40 ns", launch_overhead, diagnosis(40e-6), 2},
      {"a call of 1 us", launch_overhead, diagnosis(1e-3)},
      {"a GPU whose launch was not timed", launch_overhead, launches},
      {"two launches of 2 us in 10 us", launch_overhead, timed_launches, 1 / 0.6},
      {"nothing sampled", barrier_stalls, diagnosis(10)},
      {"the share of the stalls", barrier_stalls, with(diagnosis(10), {{"stall_barrier", 0.5}}), 2},
      {"of memory", memory_latency_stalls, with(diagnosis(10), {{"stall_long_scoreboard", 0.2}}), 1.25},
  });
}

TEST(NearFloor, FiresWhenLittleIsLeft) {
  Diagnosis d = diagnosis(10);
  EXPECT_FALSE(near_floor(d));
  d.profile.floor_fraction = 0.8;
  EXPECT_NEAR(near_floor(d)->bound, 1.25, 1e-9);
}

TEST(Diagnose, NoBoundIsAboveTheFloors) {
  Diagnosis d = diagnosis(10, {.flops = 2e7, .special_functions = 3e5});
  d.profile.floor_fraction = 0.5;
  const auto found = diagnose(d);
  ASSERT_FALSE(found.empty());
  for (const Bottleneck& bottleneck : found) {
    EXPECT_LE(bottleneck.bound, 2) << bottleneck.name;
    EXPECT_GE(bottleneck.bound, 1) << bottleneck.name;
  }
}

TEST(Diagnose, PutsTheLargestBoundFirst) {
  Diagnosis d = with(diagnosis(10, {.flops = 2e7, .special_functions = 3e5}), {{"vector_share", 0}});
  const auto found = diagnose(d);
  ASSERT_GE(found.size(), 2u);
  EXPECT_GE(found[0].bound, found[1].bound);
  EXPECT_GE(found[1].bound, found[2].bound);
}

TEST(Diagnose, LeavesOutWhatNoComparisonCouldTellFromNothing) {
  Diagnosis d = diagnosis(10);
  d.profile.floor_fraction = 0.998;
  EXPECT_TRUE(diagnose(d).empty()) << "near-floor, worth at most 1.002x";
  set_metric(d, "spread", 0.2);
  EXPECT_TRUE(diagnose(d).empty()) << "noise is no bottleneck";
  d.profile.floor_fraction = 0.9;
  EXPECT_EQ(diagnose(d).size(), 1U);
}

TEST(Diagnose, SaysNothingOfAnEmptyOrHostileProfile) {
  EXPECT_TRUE(diagnose({}).empty());
  Diagnosis d = diagnosis(10, {.flops = std::nan(""), .bytes = -1, .special_functions = INFINITY});
  d.profile.time_ns = std::nan("");
  d.profile.floor_fraction = 0;
  EXPECT_TRUE(diagnose(d).empty());
}

TEST(Diagnose, WithoutRoofsOnlyMeasuredSharesSpeak) {
  Diagnosis d = diagnosis(10, {.flops = 2e7, .special_functions = 3e5});
  d.profile.roofs.clear();
  EXPECT_TRUE(diagnose(d).empty());
}

}  // namespace
}  // namespace apo
