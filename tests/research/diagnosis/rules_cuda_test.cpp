// tests/research/diagnosis/rules_cuda_test.cpp - what a GPU's profile without counters says, with bounds worked out by
// hand.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/research/diagnosis/rules.h"
#include "harness/research/research.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::roof;
using fixtures::set_metric;

// A call of `ms` on a GPU with round roofs; its floor is a hundredth of the time unless said otherwise.
Diagnosis gpu(double ms, Work work = {}) {
  Diagnosis d = fixtures::diagnosis(ms, work);
  d.profile.metrics.clear();
  d.profile.roofs = {roof("fp32_fma", 6e13),        roof("special_tanh", 4e12),  roof("libm_tanh", 2e12),
                     roof("memory_copy", 4e12),     roof("barrier", 20e-9),      roof("shuffle_latency", 12e-9),
                     roof("shared_latency", 15e-9), roof("launch_latency", 2e-6)};
  d.incumbent.target = Target::cuda;
  d.incumbent.techniques = {"approximate-tanh"};
  d.l2_bytes = 60 << 20;
  return d;
}

bool names(const std::vector<Bottleneck>& bottlenecks, const std::string& name) {
  return std::any_of(bottlenecks.begin(), bottlenecks.end(), [&](const auto& one) { return one.name == name; });
}

TEST(Fp32Bound, FiresWhenTheUnitIsBusyForHalfTheTime) {
  Diagnosis d = gpu(1, {.flops = 4.8e10});
  set_metric(d, "busy_flops", 0.8);
  const auto found = fp32_bound(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 1.25, 1e-9);
  EXPECT_NE(found->evidence.find("60 Tflop/s"), std::string::npos) << found->evidence;
  set_metric(d, "busy_flops", 0.4);
  EXPECT_FALSE(fp32_bound(d));
}

// 30 Gflop in 60 us are 500 Tflop/s, where CUDA cores reach 60.
TEST(Fp32Bound, IsSilentOfProductsThatOnlyTensorCoresCanCompute) {
  Diagnosis d = gpu(0.06, {.flops = 3e10});
  set_metric(d, "busy_flops", 0.8);
  EXPECT_FALSE(fp32_bound(d));
}

TEST(Fp32Bound, IsNoRuleOfTheHost) {
  Diagnosis d = gpu(1);
  set_metric(d, "busy_flops", 0.8);
  set_metric(d, "busy_special", 0.8);
  d.incumbent.target = Target::host;
  EXPECT_FALSE(fp32_bound(d));
  EXPECT_FALSE(special_function_bound(d));
}

TEST(SpecialFunctionBound, FiresWhenTheUnitIsBusyForHalfTheTime) {
  Diagnosis d = gpu(1, {.special_functions = 3e9});
  set_metric(d, "busy_special", 0.75);
  EXPECT_NEAR(special_function_bound(d)->bound, 1 / 0.75, 1e-9);
  set_metric(d, "busy_special", 0.2);
  EXPECT_FALSE(special_function_bound(d));
}

// 1e9 tanhf at 2e12/s are 0.5 of 1 ms, at 4e12/s half of that.
TEST(LibmSpecialFunctions, HoldsAGpuToItsOwnLibrary) {
  Diagnosis d = gpu(1, {.special_functions = 1e9});
  EXPECT_FALSE(libm_special_functions(d)) << "it approximates";
  d.incumbent.techniques = {"segment-replay"};
  EXPECT_NEAR(libm_special_functions(d)->bound, 1 / 0.75, 1e-9);
}

// An exponential of CUDA's library is a few instructions round ex2; a tanh is not.
TEST(LibmSpecialFunctions, CountsOnlyThoseThatAGpusLibraryTakesLongFor) {
  Diagnosis d = gpu(1, {.special_functions = 1e9});
  d.incumbent.techniques = {"wgmma"};
  set_metric(d, std::string(kSpecialCount) + "exp", 1e9);
  EXPECT_FALSE(libm_special_functions(d));
  set_metric(d, std::string(kSpecialCount) + "exp", 2e8);
  set_metric(d, std::string(kSpecialCount) + "tanh", 8e8);
  EXPECT_NEAR(libm_special_functions(d)->bound, 1 / 0.8, 1e-9);
}

// 5 ms over 500 steps in two rounds of blocks: 5 us a step.
TEST(WaitingSteps, FiresWhenNoUnitIsBusyAndTellsWhatAStepTakes) {
  Diagnosis d = gpu(5, {.serial_steps = 500});
  set_metric(d, "busy_serial", 0.02);
  set_metric(d, "busy_flops", 0.05);
  set_metric(d, "waves", 1.01);
  const auto found = waiting_steps(d);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "latency-bound");
  EXPECT_NEAR(found->bound, 20, 1e-9);
  EXPECT_NE(found->evidence.find("a step takes 5 us"), std::string::npos) << found->evidence;
  EXPECT_NE(found->evidence.find("250 barriers"), std::string::npos) << found->evidence;
}

TEST(WaitingSteps, TheChainItselfBoundsTheGain) {
  Diagnosis d = gpu(5, {.serial_steps = 500});
  set_metric(d, "busy_serial", 0.4);
  EXPECT_NEAR(waiting_steps(d)->bound, 2.5, 1e-9);
}

TEST(WaitingSteps, IsSilentWithoutStepsLatenciesOrIdleUnits) {
  Diagnosis d = gpu(5, {.serial_steps = 500});
  EXPECT_FALSE(waiting_steps(d)) << "no latency was measured";
  set_metric(d, "busy_serial", 0.1);
  EXPECT_TRUE(waiting_steps(d));
  set_metric(d, "busy_bytes", 0.6);
  EXPECT_FALSE(waiting_steps(d));
  set_metric(d, "busy_bytes", 0.1);
  d.work.serial_steps = 0;
  EXPECT_FALSE(waiting_steps(d));
}

TEST(LowOccupancy, NamesWhatLimitsTheBlocks) {
  Diagnosis d = gpu(5);
  d.profile.metrics = {{.name = "blocks_per_sm", .value = 2, .unit = "limited by registers"},
                       {.name = "occupancy", .value = 0.125},
                       {.name = "block_threads", .value = 128},
                       {.name = "registers", .value = 255},
                       {.name = "block_shared_bytes", .value = 1024}};
  const auto found = low_occupancy(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 8, 1e-9);
  EXPECT_NE(found->evidence.find("limited by registers"), std::string::npos) << found->evidence;
  set_metric(d, "busy_special", 0.7);
  EXPECT_FALSE(low_occupancy(d)) << "more threads do not speed up a unit that is busy";
  set_metric(d, "busy_special", 0.1);
  set_metric(d, "occupancy", 0.5);
  EXPECT_FALSE(low_occupancy(d));
}

TEST(TailWave, BoundsTheGainByTheIdleShare) {
  Diagnosis d = gpu(5);
  set_metric(d, "idle_share", 0.2);
  EXPECT_NEAR(tail_wave(d)->bound, 1.25, 1e-9);
  set_metric(d, "idle_share", 0.05);
  EXPECT_FALSE(tail_wave(d));
}

// 6e10 flop and 4e9 byte take 1 ms each, of 10.
TEST(PerStepOverhead, OnAGpuExplainsTheTimeByItsOwnRoofs) {
  Diagnosis d = gpu(10, {.flops = 6e10, .bytes = 4e9});
  set_metric(d, "floor_bytes", 1e6);
  const auto found = per_step_overhead(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 5, 1e-9);
  EXPECT_EQ(found->evidence.find("scalar"), std::string::npos) << found->evidence;
}

// The recurrence of the seeds on a GPU: thousands of cycles a step, nothing busy. Its candidates get bands, not points.
TEST(Diagnose, OnAGpuFindsWhatAStepWaitsForAndBandsStayBands) {
  ResearchInputs in = fixtures::inputs({fixtures::variant("tiled", "lane-tiling", 2.2, 3.6),
                                        fixtures::variant("chunk", "chunk-prefetch", 1.15, 1.4),
                                        fixtures::variant("odd", "fp16-history", 1.0, 1.1)});
  for (RegisteredVariant& one : in.variants) {
    one.variant.target = Target::cuda;
  }
  in.diagnosis = gpu(5, {.flops = 1.7e10, .bytes = 5e8, .special_functions = 7e8, .serial_steps = 512});
  in.diagnosis.profile.floor_fraction = 0.06;
  in.diagnosis.incumbent.techniques = {"segment-replay"};
  set_metric(in.diagnosis, "busy_serial", 0.01);
  set_metric(in.diagnosis, "floor_bytes", 1.25e5);
  const ResearchBrief brief = research(in);
  for (const char* name : {"latency-bound", "per-step-overhead"}) {
    EXPECT_TRUE(names(brief.bottlenecks, name)) << name;
  }
  ASSERT_EQ(brief.ranked.size(), 3u);
  EXPECT_EQ(brief.ranked.front().configuration.variant, "toy/tiled");
  EXPECT_EQ(brief.ranked.front().attacks, brief.bottlenecks.front().name);
  for (const Candidate& candidate : brief.ranked) {
    EXPECT_LT(candidate.prediction.low, candidate.prediction.high) << candidate.configuration.variant;
  }
}

}  // namespace
}  // namespace apo
