// tests/research/diagnosis/rules_cuda_test.cpp - what a GPU's profile without counters says, by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/research/diagnosis/rules.h"
#include "harness/research/research.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::by;
using fixtures::expect_rules;
using fixtures::roof;
using fixtures::set_metric;
using fixtures::with;

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

TEST(GpuRules, OfUnitsThatAreBusyForHalfTheTime) {
  Diagnosis host = with(gpu(1), {{"busy_flops", 0.8}, {"busy_special", 0.8}});
  host.incumbent.target = Target::host;
  const Diagnosis tanhs = gpu(1, {.special_functions = 1e9});
  const auto counted = [&](double exponentials, double hyperbolic) {
    return with(by(tanhs, "wgmma"), {{std::string(kSpecialCount) + "exp", exponentials},
                                     {std::string(kSpecialCount) + "tanh", hyperbolic}});
  };
  const auto flops = [](double ms, double count, double busy) {
    return with(gpu(ms, {.flops = count}), {{"busy_flops", busy}});
  };
  const auto special = [](double busy) { return with(gpu(1, {.special_functions = 3e9}), {{"busy_special", busy}}); };
  expect_rules({
      {"80 % busy", fp32_bound, flops(1, 4.8e10, 0.8), 1.25, "60 Tflop/s"},
      {"40 % busy", fp32_bound, flops(1, 4.8e10, 0.4)},
      {"500 Tflop/s, which only tensor cores compute", fp32_bound, flops(0.06, 3e10, 0.8)},
      {"a host", fp32_bound, host},
      {"a host", special_function_bound, host},
      {"75 % busy", special_function_bound, special(0.75), 1 / 0.75},
      {"20 % busy", special_function_bound, special(0.2)},
      {"it approximates", libm_special_functions, tanhs},
      {"1e9 tanhf at 2e12/s are 0.5 of 1 ms, at 4e12/s half of that", libm_special_functions,
       by(tanhs, "segment-replay"), 1 / 0.75},
      {"an exponential of CUDA's library is a few instructions round ex2", libm_special_functions, counted(1e9, 0)},
      {"a tanh is not", libm_special_functions, counted(2e8, 8e8), 1 / 0.8},
  });
}

TEST(GpuRules, OfStepsThatWait) {
  const auto steps = [](const std::vector<std::pair<std::string, double>>& metrics, double count = 500) {
    return with(gpu(5, {.serial_steps = count}), metrics);
  };
  const Diagnosis rounds = steps({{"busy_serial", 0.02}, {"busy_flops", 0.05}, {"waves", 1.01}});
  expect_rules({
      {"5 ms over 500 steps in two rounds of blocks", waiting_steps, rounds, 20, "a step takes 5 us"},
      {"in measured barriers", waiting_steps, rounds, 20, "250 barriers"},
      {"the chain itself bounds the gain", waiting_steps, steps({{"busy_serial", 0.4}}), 2.5},
      {"no latency was measured", waiting_steps, steps({})},
      {"a unit is busy", waiting_steps, steps({{"busy_serial", 0.1}, {"busy_bytes", 0.6}})},
      {"nearly none is", waiting_steps, steps({{"busy_serial", 0.1}, {"busy_bytes", 0.1}}), 10},
      {"no steps", waiting_steps, steps({{"busy_serial", 0.1}}, 0)},
  });
  EXPECT_EQ(waiting_steps(rounds)->name, "latency-bound");
}

TEST(GpuRules, OfBlocksAndTheRest) {
  Diagnosis few = gpu(5);
  few.profile.metrics = {{.name = "blocks_per_sm", .value = 2, .unit = "limited by registers"},
                         {.name = "occupancy", .value = 0.125},
                         {.name = "block_threads", .value = 128},
                         {.name = "registers", .value = 255},
                         {.name = "block_shared_bytes", .value = 1024}};
  const Diagnosis rest = with(gpu(10, {.flops = 6e10, .bytes = 4e9}), {{"floor_bytes", 1e6}});
  expect_rules({
      {"an eighth", low_occupancy, few, 8, "limited by registers"},
      {"more threads do not speed up a unit that is busy", low_occupancy, with(few, {{"busy_special", 0.7}})},
      {"half", low_occupancy, with(few, {{"busy_special", 0.1}, {"occupancy", 0.5}})},
      {"a fifth is idle", tail_wave, with(gpu(5), {{"idle_share", 0.2}}), 1.25},
      {"a twentieth", tail_wave, with(gpu(5), {{"idle_share", 0.05}})},
      {"6e10 flop and 4e9 byte take 1 ms each, of 10", per_step_overhead, rest, 5},
  });
  EXPECT_EQ(per_step_overhead(rest)->evidence.find("scalar"), std::string::npos) << "a GPU's own roofs";
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
