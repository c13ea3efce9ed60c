// tests/research/diagnosis/rules_cuda_test.cpp - what a GPU's profile says, with counters and without, by hand.
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

// A call of 1 ms on a GPU with a floor at a hundredth, and these metrics.
Diagnosis counted(const std::vector<std::pair<std::string, double>>& metrics = {}) {
  Diagnosis d = fixtures::diagnosis(1);
  d.profile.metrics.clear();
  d.incumbent.target = Target::cuda;
  return fixtures::with(d, metrics);
}

TEST(CounterRules, AreSilentWithoutCountersAndOnTheHost) {
  Rule* const rules[] = {dram_bound,       bank_conflicts,  shared_memory_stalls,  uncoalesced_access, idle_lanes,
                         unused_occupancy, register_spills, special_function_pipe, fp32_pipe,          tensor_pipe,
                         atomics,          issue_bound};
  Diagnosis host = counted({{"dram_utilisation", 0.9},
                            {"bank_conflict_share", 0.9},
                            {"load_efficiency", 0.1},
                            {"threads_per_instruction", 4},
                            {"issue_utilisation", 0.9},
                            {"pipe_fp32", 0.9}});
  host.incumbent.target = Target::host;
  for (Rule* const rule : rules) {
    EXPECT_FALSE(rule(counted()));
    EXPECT_FALSE(rule(host));
  }
}

TEST(CounterRules, OfMemory) {
  const auto dram = [](double utilisation, double over_compulsory) {
    return counted(
        {{"dram_utilisation", utilisation}, {"bytes_moved", 3e9}, {"bytes_over_compulsory", over_compulsory}});
  };
  const auto conflicts = [](double share) {
    return counted({{"bank_conflict_share", share},
                    {"stall_selected", 0.2},
                    {"stall_mio_throttle", 0.3},
                    {"stall_short_scoreboard", 0.1}});
  };
  const auto efficiency = [](double loads, double stores, double stalls) {
    return counted({{"load_efficiency", loads},
                    {"store_efficiency", stores},
                    {"stall_selected", 0.5},
                    {"stall_long_scoreboard", stalls}});
  };
  const auto local = [](double instructions, double spilled) {
    return counted({{"sm__sass_inst_executed_op_local.sum", instructions},
                    {"smsp__inst_executed.sum", 100},
                    {"local_bytes", 4096},
                    {"spill_bytes", spilled}});
  };
  expect_rules({
      {"utilisation and excess bytes", dram_bound, dram(0.8, 1.5), 1.5 / 0.8, "1.50x the compulsory bytes"},
      {"the rest stayed in the L2", dram_bound, dram(0.8, 0.3), 1.25},
      {"half used", dram_bound, dram(0.5, 0.3)},
      {"without samples they may be all of the time", bank_conflicts, counted({{"bank_conflict_share", 0.5}}), 2},
      {"no warp waits for shared memory", bank_conflicts,
       counted({{"bank_conflict_share", 0.5}, {"stall_selected", 0.2}})},
      {"as far as warps wait for it", bank_conflicts, conflicts(0.5), 1 / (0.6 + 0.4 / 2)},
      {"few", bank_conflicts, conflicts(0.05)},
      {"the latency and the queue", shared_memory_stalls,
       counted({{"stall_short_scoreboard", 0.2}, {"stall_mio_throttle", 0.3}}), 2},
      {"hardly a wait", shared_memory_stalls, counted({{"stall_short_scoreboard", 0.1}})},
      {"the worse of loads and stores", uncoalesced_access,
       counted({{"load_efficiency", 0.25}, {"store_efficiency", 0.9}, {"sectors_per_load", 16}}), 4,
       "loads use 25 % of the bytes of their sectors and touch 16 sectors"},
      {"nobody waits for memory", uncoalesced_access, efficiency(0.25, 0.9, 0)},
      {"as far as warps wait", uncoalesced_access, efficiency(0.25, 0.9, 0.4), 1 / (0.6 + 0.4 / 4)},
      {"both are good", uncoalesced_access, efficiency(0.8, 0.9, 0.4)},
      {"stores", uncoalesced_access, efficiency(0.8, 0.3, 0.4), 1 / (0.6 + 0.4 * 0.3), "stores use 30 %"},
      {"nothing is loaded", uncoalesced_access, counted({{"load_efficiency", 0}, {"store_efficiency", 0}})},
      {"registers were spilled", register_spills, local(10, 128), 1 / 0.9, "spilled 128"},
      {"an array", register_spills, local(10, 0), 1 / 0.9, "indexed at run time"},
      {"one instruction", register_spills, local(1, 0)},
      {"sampled waits for memory", memory_latency_stalls, counted({{"stall_long_scoreboard", 0.75}}), 4},
      {"sampled waits at barriers", barrier_stalls, counted({{"stall_barrier", 0.5}}), 2},
  });
}

TEST(CounterRules, OfUnitsAndLanes) {
  const auto atomic = [](double atomics) {
    return counted(
        {{"atomics", atomics}, {"smsp__inst_executed.sum", 100}, {"stall_selected", 0.2}, {"stall_lg_throttle", 0.5}});
  };
  expect_rules({
      {"8 of 32 lanes", idle_lanes, counted({{"threads_per_instruction", 8}}), 4},
      {"31 lanes", idle_lanes, counted({{"threads_per_instruction", 31}})},
      {"nothing counted", idle_lanes, counted({{"threads_per_instruction", 0}})},
      {"half of what fits", unused_occupancy, counted({{"occupancy", 0.5}, {"achieved_occupancy", 0.25}}), 2},
      {"most of it", unused_occupancy, counted({{"occupancy", 0.5}, {"achieved_occupancy", 0.45}})},
      {"a busy pipe", special_function_pipe, counted({{"pipe_special", 0.8}}), 1.25},
      {"a busy pipe", fp32_pipe, counted({{"pipe_fp32", 0.8}}), 1.25},
      {"a busy pipe", tensor_pipe, counted({{"pipe_tensor", 0.8}}), 1.25},
      {"below sixty percent", special_function_pipe, counted({{"pipe_special", 0.5}})},
      {"more than a few instructions", atomics, atomic(5), 2},
      {"a few", atomics, atomic(0.5)},
      {"almost every slot issues", issue_bound, counted({{"issue_utilisation", 0.8}}), 1.25},
      {"seven of ten", issue_bound, counted({{"issue_utilisation", 0.7}})},
  });
}

}  // namespace

}  // namespace apo
