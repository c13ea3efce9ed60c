// tests/research/diagnosis/rules_test.cpp - each rule fires on its profile, with the bound worked out by hand, and not
// on a look-alike.
#include "harness/research/diagnosis/rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::diagnosis;
using fixtures::set_metric;

void use_two_threads(Diagnosis& d, double scaling) {
  set_metric(d, "threads", 2);
  set_metric(d, "scaling", scaling);
}

// Its innermost loops have no vector instruction.
Diagnosis scalar(Diagnosis d) {
  set_metric(d, "vector_share", 0);
  return d;
}

TEST(Amdahl, IsTheKnownFormula) {
  EXPECT_DOUBLE_EQ(amdahl(0.5, 2), 1 / 0.75);
  EXPECT_DOUBLE_EQ(amdahl(0, 100), 1);
  EXPECT_DOUBLE_EQ(amdahl(1, 50), 50);
  EXPECT_DOUBLE_EQ(amdahl(std::nan(""), 100), 1);
  EXPECT_NEAR(amdahl(7, INFINITY), 1000, 1e-6);
}

// 20 Mflop in 10 ms are 2 Gflop/s; scalar code does 10, vectors 100: all of the time could shrink 50 times.
TEST(NotVectorised, FiresBelowTheScalarRate) {
  const auto found = not_vectorised(scalar(diagnosis(10, {.flops = 2e7})));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "not-vectorised");
  EXPECT_NEAR(found->bound, 50, 1e-9);
  EXPECT_NE(found->evidence.find("2 Gflop/s"), std::string::npos) << found->evidence;
}

TEST(NotVectorised, IsSilentAboveTheScalarRate) {
  EXPECT_FALSE(not_vectorised(scalar(diagnosis(10, {.flops = 3e8}))));
}

TEST(NotVectorised, IsSilentWhereTwoThreadsOfScalarRateAreNotReachedByOne) {
  Diagnosis d = scalar(diagnosis(10, {.flops = 1.5e8}));  // 15 Gflop/s: above scalar on one thread, below it on two
  EXPECT_FALSE(not_vectorised(d));
  use_two_threads(d, 2);
  EXPECT_TRUE(not_vectorised(d));
}

TEST(NotVectorised, IsSilentWhenLibmExplainsTheTime) {
  EXPECT_FALSE(not_vectorised(scalar(diagnosis(10, {.flops = 1e6, .special_functions = 9.5e5}))));
}

// As slow as scalar code, since it waits for memory.
TEST(NotVectorised, IsSilentOnVectorCodeAndOnCodeThatNobodyLookedAt) {
  Diagnosis d = diagnosis(10, {.flops = 2e7});
  EXPECT_FALSE(not_vectorised(d));
  set_metric(d, "vector_share", 0.8);
  EXPECT_FALSE(not_vectorised(d));
  set_metric(d, "vector_share", 0.1);
  EXPECT_TRUE(not_vectorised(d));
}

// 0.5 M at 1e8 a second are 5 ms of 10; at 5e9 they are 0.1 ms: 1 / (0.5 + 0.5 / 50).
TEST(LibmSpecialFunctions, FiresWhenLibmsRateExplainsTheTime) {
  const auto found = libm_special_functions(diagnosis(10, {.special_functions = 5e5}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 1 / (0.5 + 0.5 / 50), 1e-9);
}

// 5e6 tanh would take 50 ms.
TEST(LibmSpecialFunctions, AnExponentialHasARateOfItsOwn) {
  Diagnosis d = diagnosis(10, {.special_functions = 5e6});
  d.profile.roofs.push_back(fixtures::roof("libm_exp_1", 1e9));
  set_metric(d, std::string(kSpecialCount) + "exp", 5e6);
  const auto found = libm_special_functions(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 1 / (0.5 + 0.5 / 5), 1e-9);
  EXPECT_NE(found->evidence.find("1 Gop/s"), std::string::npos) << found->evidence;
}

TEST(LibmSpecialFunctions, IsSilentOnCodeFasterThanLibm) {
  EXPECT_FALSE(libm_special_functions(diagnosis(10, {.special_functions = 5e6})));
}

TEST(LibmSpecialFunctions, IsSilentOnAFewSpecialFunctions) {
  EXPECT_FALSE(libm_special_functions(diagnosis(10, {.special_functions = 9e4})));
}

TEST(LibmSpecialFunctions, IsSilentOnAVariantThatReplacedLibm) {
  Diagnosis d = diagnosis(10, {.special_functions = 5e5});
  d.incumbent.techniques.push_back("vectorised-tanh");
  EXPECT_FALSE(libm_special_functions(d));
}

// 0.4 M compulsory, twice that executed: 8 of 10 ms, of which half is repeated: 1 / (1 - 0.4).
TEST(RecomputedSpecialFunctions, FiresOnTheSeedsFormulation) {
  Diagnosis d = diagnosis(10, {.special_functions = 4e5});
  d.incumbent.family = "e88_backward";
  const auto found = recomputed_special_functions(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 1 / 0.6, 1e-9);
}

TEST(RecomputedSpecialFunctions, IsSilentOnAVariantThatReusesTheState) {
  Diagnosis d = diagnosis(10, {.special_functions = 4e5});
  d.incumbent.family = "e88_backward";
  d.incumbent.techniques = {"reused-state"};
  EXPECT_FALSE(recomputed_special_functions(d));
}

TEST(RecomputedSpecialFunctions, BelievesACounterMoreThanTheFormulation) {
  Diagnosis d = diagnosis(10, {.special_functions = 4e5});
  d.incumbent.family = "e88_backward";
  set_metric(d, "special_executed", 4e5);
  EXPECT_FALSE(recomputed_special_functions(d));
}

TEST(IdleCores, FiresWhenTheSecondCoreGivesNothing) {
  Diagnosis d = diagnosis(10);
  d.units = 8;
  use_two_threads(d, 1.02);
  const auto found = idle_cores(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 2 / 1.02, 1e-9);
}

// 50 us to start threads: nothing beside 10 ms, half of 0.1 ms.
TEST(IdleCores, OfAShortCallNameWhatStartingThreadsTakes) {
  for (const auto& [ms, named] : {std::pair(10.0, false), {0.1, true}}) {
    Diagnosis d = diagnosis(ms);
    d.units = 8;
    use_two_threads(d, 1.0);
    EXPECT_EQ(idle_cores(d)->evidence.find("what starting threads takes, up to 50") != std::string::npos, named) << ms;
  }
}

TEST(IdleCores, AreWorthNoMoreThanThereAreCores) {
  Diagnosis d = diagnosis(10);
  d.units = 8;
  use_two_threads(d, 0.86);
  EXPECT_NEAR(idle_cores(d)->bound, 2, 1e-9) << "not 2.33x: the second thread slowed the call down";
}

TEST(IdleCores, CountsIndivisibleUnits) {
  Diagnosis d = diagnosis(10);
  d.units = 3;
  use_two_threads(d, 1.0);
  EXPECT_NEAR(idle_cores(d)->bound, 1.5, 1e-9);
}

TEST(IdleCores, IsSilentOnOneUnitOneCoreOrGoodScaling) {
  Diagnosis d = diagnosis(10);
  d.units = 1;
  use_two_threads(d, 1.0);
  EXPECT_FALSE(idle_cores(d));
  d.units = 8;
  set_metric(d, "scaling", 1.9);
  EXPECT_FALSE(idle_cores(d));
  set_metric(d, "threads", 1);
  set_metric(d, "scaling", 1.0);
  EXPECT_FALSE(idle_cores(d));
}

// 50 us of 200 us: 1 / 0.75.
TEST(ThreadOverhead, FiresOnASmallThreadedCall) {
  Diagnosis d = diagnosis(0.2);
  use_two_threads(d, 1.5);
  const auto found = thread_overhead(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 4.0 / 3, 1e-9);
}

TEST(ThreadOverhead, IsSilentOnASmallSerialCallAndOnALargeThreadedOne) {
  Diagnosis serial = diagnosis(0.2);
  use_two_threads(serial, 1.0);
  EXPECT_FALSE(thread_overhead(serial));
  Diagnosis large = diagnosis(20);
  use_two_threads(large, 1.9);
  EXPECT_FALSE(thread_overhead(large));
}

TEST(MemoryBound, FiresWhenCopyingExplainsMostOfTheTime) {
  Diagnosis d = diagnosis(10, {.bytes = 4e7});
  set_metric(d, "floor_bytes", 8e6);
  EXPECT_NEAR(memory_bound(d)->bound, 1.25, 1e-9);
}

TEST(MemoryBound, IsSilentWhenCopyingIsAMinorPart) {
  Diagnosis d = diagnosis(10, {.bytes = 4e6});
  set_metric(d, "floor_bytes", 8e5);
  EXPECT_FALSE(memory_bound(d));
}

TEST(LatencyBound, FiresOnALowIpcWithoutTraffic) {
  Diagnosis d = diagnosis(10);
  set_metric(d, "ipc", 0.6);
  set_metric(d, "floor_bytes", 1e5);
  EXPECT_NEAR(latency_bound(d)->bound, 100, 1e-9);  // the floor's
}

TEST(LatencyBound, IsSilentWithoutCountersOnMemoryTrafficAndOnAGoodIpc) {
  Diagnosis d = diagnosis(10);
  set_metric(d, "floor_bytes", 1e5);
  EXPECT_FALSE(latency_bound(d));
  set_metric(d, "ipc", 2.5);
  EXPECT_FALSE(latency_bound(d));
  set_metric(d, "ipc", 0.6);
  set_metric(d, "floor_bytes", 9e6);
  EXPECT_FALSE(latency_bound(d));
}

TEST(InstructionOverhead, FiresOnManyInstructionsAFlop) {
  Diagnosis d = diagnosis(10);
  set_metric(d, "instructions_per_flop", 5);
  EXPECT_NEAR(instruction_overhead(d)->bound, 10, 1e-9);
  set_metric(d, "instructions_per_flop", 1.5);
  EXPECT_FALSE(instruction_overhead(d));
}

// Scalar arithmetic 2 ms + libm 3 ms of 10 ms.
TEST(PerStepOverhead, FiresOnTimeThatNothingExplains) {
  const auto found = per_step_overhead(diagnosis(10, {.flops = 2e7, .special_functions = 3e5}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 2, 1e-9);
}

TEST(PerStepOverhead, IsSilentWhereTheFamilyCountsNoArithmetic) {
  Diagnosis d = diagnosis(10, {.bytes = 8e6});
  set_metric(d, "floor_bytes", 1e6);
  EXPECT_FALSE(per_step_overhead(d));
}

TEST(PerStepOverhead, IsSilentWhenPlainCodeExplainsTheTime) {
  EXPECT_FALSE(per_step_overhead(diagnosis(10, {.flops = 5e7, .special_functions = 4e5})));
}

// 8 MB written and read at 10 GB/s: 1.6 of 10 ms.
TEST(SegmentCacheTraffic, FiresOnScratchThatLeavesTheL2) {
  Diagnosis d = diagnosis(10);
  d.scratch_bytes = 8e6;
  EXPECT_NEAR(segment_cache_traffic(d)->bound, 1 / 0.84, 1e-9);
}

TEST(SegmentCacheTraffic, IsSilentOnScratchThatFits) {
  Diagnosis d = diagnosis(0.1);
  d.scratch_bytes = 1e6;
  EXPECT_FALSE(segment_cache_traffic(d));
}

TEST(LaunchOverhead, FiresOnTinyCallsOnly) {
  EXPECT_NEAR(launch_overhead(diagnosis(40e-6))->bound, 2, 1e-9);  // 20 of 40 ns
  EXPECT_FALSE(launch_overhead(diagnosis(1e-3)));
}

TEST(LaunchOverhead, OnCudaCountsTheLaunches) {
  Diagnosis d = diagnosis(0.01);
  d.incumbent.target = Target::cuda;
  d.incumbent.launches.resize(2);
  EXPECT_FALSE(launch_overhead(d));
  d.profile.roofs.push_back(fixtures::roof("launch_latency", 2e-6));
  EXPECT_NEAR(launch_overhead(d)->bound, 1 / 0.6, 1e-9);
}

// 2000 faults at 1 us: 2 of 10 ms.
TEST(PageFaults, FireWhenMemoryIsMappedInEveryCall) {
  Diagnosis d = diagnosis(10);
  set_metric(d, "page_faults", 2000);
  EXPECT_NEAR(page_faults(d)->bound, 1.25, 1e-9);
  set_metric(d, "page_faults", 3);
  EXPECT_FALSE(page_faults(d));
}

TEST(CudaStalls, TheirShareIsTheBound) {
  Diagnosis d = diagnosis(10);
  EXPECT_FALSE(barrier_stalls(d));
  set_metric(d, "stall_barrier", 0.5);
  set_metric(d, "stall_long_scoreboard", 0.2);
  EXPECT_NEAR(barrier_stalls(d)->bound, 2, 1e-9);
  EXPECT_NEAR(memory_latency_stalls(d)->bound, 1.25, 1e-9);
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
  Diagnosis d = scalar(diagnosis(10, {.flops = 2e7, .special_functions = 3e5}));
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
