// tests/research/diagnosis/rules_causes_test.cpp - causes on a GPU from made-up counters and samples: what each rule
// fires on, what it leaves to another one, its line, and that a cause stands before what merely shows it.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/research/diagnosis/rules.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::expect_rules;
using fixtures::set_metric;
using fixtures::with;
using Metrics = std::vector<std::pair<std::string, double>>;

// A call of 1 ms on a GPU whose floor is a hundredth of it, with these metrics.
Diagnosis gpu(const Metrics& metrics) {
  Diagnosis d = fixtures::diagnosis(1, {.bytes = 1e8});
  d.profile.metrics.clear();
  d.profile.roofs = {fixtures::roof("barrier", 15e-9), fixtures::roof("shuffle", 8e12), fixtures::roof("l2_copy", 8e12),
                     fixtures::roof("launch_latency", 1.5e-6)};
  d.incumbent.target = Target::cuda;
  return with(d, metrics);
}

// The same with stalls by share, of which the variant's line 7 has most.
Diagnosis sampled(const Metrics& stalls, const Metrics& metrics = {}) {
  Diagnosis d = gpu(metrics);
  set_metric(d, "stall_selected", 0.1);
  for (const auto& [state, share] : stalls) {
    set_metric(d, "stall_" + state, share);
    const auto samples = static_cast<std::int64_t>(1000 * share);
    d.profile.stalls.push_back(
        {.kernel = "k", .file = "variant.cu", .line = 5, .stall = state, .samples = samples / 4});
    d.profile.stalls.push_back(
        {.kernel = "k", .file = "variant.cu", .line = 7, .stall = state, .samples = samples / 2});
    d.profile.stalls.push_back({.kernel = "k", .file = "math.hpp", .line = 9, .stall = state, .samples = samples});
  }
  return d;
}

std::string first_of(const Diagnosis& d) {
  const auto all = diagnose(d);
  return all.empty() ? "" : all.front().name;
}

TEST(Causes, AreSilentOnTheHostAndWithoutCounters) {
  Diagnosis host =
      sampled({{"membar", 0.5}, {"no_instruction", 0.5}, {"sleeping", 0.5}, {"barrier", 0.5}},
              {{"fp64_share", 0.5}, {"integer_share", 0.9}, {"issue_utilisation", 0.9}, {"barrier_wait", 1e4}});
  host.incumbent.target = Target::host;
  const Diagnosis empty = gpu({});
  for (Rule* const rule : {excess_dram_traffic, divergent_branches, double_precision, integer_arithmetic,
                           constant_serialisation, instruction_fetch_stalls, fence_stalls, sleeping_warps, uneven_warps,
                           shuffle_bound, l2_bound, shared_bandwidth}) {
    EXPECT_FALSE(rule(host));
    EXPECT_FALSE(rule(empty));
  }
  EXPECT_FALSE(uneven_blocks(empty));
  EXPECT_FALSE(tiny_blocks(empty));
}

TEST(Causes, StandBeforeTheWaitsThatShowThem) {
  const Diagnosis d = sampled({{"long_scoreboard", 0.8}}, {{"load_efficiency", 0.125}});
  const auto all = diagnose(d);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "uncoalesced-access");
  EXPECT_EQ(all[0].kind, BottleneckKind::cause);
  EXPECT_EQ(all[1].name, "memory-latency-stalls");
  EXPECT_EQ(all[1].kind, BottleneckKind::limit);
  EXPECT_GT(all[1].bound, all[0].bound) << "or the order would be that of the bounds";
}

TEST(Causes, DoNotStandFirstInAKernelThatIsAtItsRoof) {
  Diagnosis d = gpu({{"sm_active", 0.8}, {"idle_share", 0}});
  EXPECT_EQ(first_of(d), "uneven-blocks");
  d.profile.floor_ns = 0.89 * d.profile.time_ns;
  d.profile.floor_fraction = 0.89;
  const auto all = diagnose(d);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().name, "near-floor");
}

TEST(Causes, WorthLessThanAnExperimentStandAmongTheLimits) {
  const Diagnosis d = sampled({{"long_scoreboard", 0.5}, {"membar", 0.15}}, {{"idle_share", 0.05}});
  EXPECT_EQ(first_of(d), "fence-stalls") << "1.18x";
  Diagnosis less = sampled({{"long_scoreboard", 0.5}}, {{"load_efficiency", 0.6}, {"bank_conflict_share", 0}});
  set_metric(less, "stall_long_scoreboard", 0.2);  // a bound of 1.087
  EXPECT_EQ(first_of(less), "memory-latency-stalls");
}

TEST(Causes, NameTheVariantsLineWithMostOfTheirSamples) {
  Diagnosis d = sampled({{"membar", 0.5}, {"wait", 0.3}});
  d.profile.stalls.push_back({.kernel = "k", .file = "variant.cu", .line = 3, .stall = "wait", .samples = 9000});
  const auto found = fence_stalls(d);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, 7) << "not line 3, which has samples of another state, nor the header's line 9";
  EXPECT_EQ(found->file, "variant.cu");
  EXPECT_EQ(memory_latency_stalls(sampled({{"long_scoreboard", 0.5}}))->line, 7) << "a wait has one as well";
  d.profile.stalls.clear();
  EXPECT_EQ(fence_stalls(d)->line, 0);
}

TEST(Waits, CannotShrinkBelowTheWorkOfTheirUnit) {
  EXPECT_NEAR(memory_latency_stalls(sampled({{"long_scoreboard", 0.9}}))->bound, 10, 1e-9);
  EXPECT_NEAR(memory_latency_stalls(sampled({{"long_scoreboard", 0.9}}, {{"dram_utilisation", 0.8}}))->bound, 1.25,
              1e-9);
  EXPECT_NEAR(shared_memory_stalls(sampled({{"short_scoreboard", 0.9}}, {{"pipe_special", 0.8}}))->bound, 1.25, 1e-9);
  EXPECT_EQ(first_of(sampled({{"short_scoreboard", 0.9}}, {{"pipe_special", 0.8}})), "special-function-pipe");
}

TEST(CauseRules, OfTraffic) {
  const auto dram = [](double utilisation, double moved, const Metrics& more = {}) {
    Diagnosis d = gpu({{"dram_utilisation", utilisation}, {"bytes_moved", moved}, {"bytes_over_compulsory", 2}});
    d.l2_bytes = 50'000'000;
    return with(d, more);
  };
  const auto waiting = [](const Metrics& metrics) { return sampled({{"long_scoreboard", 0.8}}, metrics); };
  const auto sectors = [](double loads, double stores, double loaded, double stored) {
    return sampled({{"long_scoreboard", 0.9}}, {{"load_efficiency", loads},
                                                {"store_efficiency", stores},
                                                {"sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", loaded},
                                                {"sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", stored}});
  };
  expect_rules({
      {"200 MB of which the L2 may have held 50 of others, where 100 would do", excess_dram_traffic, dram(0.9, 2e8),
       1.5},
      {"1.2 times", excess_dram_traffic, dram(0.9, 1.7e8)},
      {"wasted sectors are why", excess_dram_traffic, dram(0.9, 4e8, {{"load_efficiency", 0.25}})},
      {"local memory is why", excess_dram_traffic, dram(0.9, 4e8, {{"load_efficiency", 1}, {"local_bytes", 3e8}})},
      {"nobody waits for DRAM", excess_dram_traffic, dram(0.3, 4e8)},
      {"half of the stores", uncoalesced_access, waiting({{"store_efficiency", 0.5}}), 1 / 0.6},
      {"rows that are only shifted", uncoalesced_access, waiting({{"load_efficiency", 0.8}})},
      {"the sectors that loads and stores waste together", uncoalesced_access, sectors(0.2, 0.125, 3e6, 1e6),
       1 / (0.1 + 0.9 * (1 - 0.8 * 0.75 - 0.875 * 0.25)), "loads use 20 %"},
      {"one lane of each warp stores its sum", uncoalesced_access, sectors(1, 0.125, 4e6, 3e4)},
      {"the waits, without the wasted part of all sectors", uncoalesced_access, sectors(1, 0.125, 4e6, 4e6),
       1 / (0.1 + 0.9 * (1 - 0.875 / 2))},
  });
}

TEST(RegisterSpills, AndArraysIndexedAtRunTimeHaveNamesOfTheirOwn) {
  Diagnosis d =
      gpu({{"sm__sass_inst_executed_op_local.sum", 10}, {"smsp__inst_executed.sum", 100}, {"spill_bytes", 64}});
  EXPECT_EQ(register_spills(d)->name, "register-spills");
  set_metric(d, "spill_bytes", 0);
  EXPECT_EQ(register_spills(d)->name, "local-array");
}

TEST(CauseRules, OfInstructions) {
  const auto lanes = [](double divergent, const Metrics& more = {}) {
    return with(gpu({{"threads_per_instruction", 16}, {"divergent_share", divergent}}), more);
  };
  const auto atomic = [](const Metrics& stalls, double shared) {
    return sampled(
        stalls,
        {{"atomics", 10}, {"smsp__inst_executed.sum", 100}, {"sm__sass_inst_executed_op_shared_atom.sum", shared}});
  };
  const auto doubles = [](double share, bool in_contract) {
    Diagnosis d = gpu({{"fp64_share", share}, {"pipe_fp64", 0.8}});
    d.has_doubles = in_contract;
    return d;
  };
  const auto integers = [](double share, double issued) {
    return gpu({{"integer_share", share}, {"issue_utilisation", issued}, {"conversion_share", 0.05}});
  };
  const Metrics waits = {{"short_scoreboard", 0.6}};
  const auto constants = [](const Metrics& stalls, double loads, double requests, double pipe) {
    return sampled(stalls, {{"constant_loads", loads},
                            {"smsp__inst_executed.sum", 100},
                            {"requests_per_constant_load", requests},
                            {"pipe_constant", pipe}});
  };
  expect_rules({
      {"divergent lanes are not idle", idle_lanes, lanes(0.4)},
      {"idle lanes are not divergent", divergent_branches, lanes(0.02)},
      {"16 of 32", idle_lanes, lanes(0.02), 2},
      {"memory takes the time", idle_lanes, lanes(0.02, {{"stall_selected", 0.1}, {"stall_long_scoreboard", 0.9}}),
       1 / 0.95},
      {"global atomics", atomics, atomic({{"lg_throttle", 0.5}}, 0), 2},
      {"those of shared memory wait for it", atomics, atomic({{"lg_throttle", 0.5}, {"mio_throttle", 0.2}}, 10), 1.25,
       "on shared memory"},
      {"half the rate, so that half of 80 % can go", double_precision, doubles(0.4, false), 1 / 0.6},
      {"the contract has doubles", double_precision, doubles(0.4, true)},
      {"few doubles", double_precision, doubles(0.01, false)},
      {"instructions take the time", integer_arithmetic, integers(0.8, 0.75), 2.5, "integer division"},
      {"addresses of a kernel that waits for memory", integer_arithmetic, integers(0.8, 0.2)},
      {"few are integers", integer_arithmetic, integers(0.3, 0.9)},
      {"the arguments of a kernel", constant_serialisation, constants(waits, 20, 20, 0)},
      {"all lanes read one place", constant_serialisation, constants(waits, 20, 1, 0.4)},
      {"too few", constant_serialisation, constants(waits, 0.5, 1, 0.9)},
      {"the warps wait for memory", constant_serialisation, constants({{"long_scoreboard", 0.85}}, 20, 20, 0.9)},
  });
  EXPECT_TRUE(divergent_branches(lanes(0.4)));
  EXPECT_EQ(atomics(atomic({{"lg_throttle", 0.5}}, 0))->line, 7);
  EXPECT_TRUE(constant_serialisation(constants(waits, 20, 20, 0.4)));
  EXPECT_TRUE(constant_serialisation(constants(waits, 20, 1, 0.9)));
}

TEST(OwnWaits, CountUnlessAUnitIsHighlyUsed) {
  for (const auto& [rule, state] : {std::pair<Rule*, const char*>{instruction_fetch_stalls, "no_instruction"},
                                    {fence_stalls, "membar"},
                                    {sleeping_warps, "sleeping"}}) {
    expect_rules({{state, rule, sampled({{state, 0.5}}), 2},
                  {state, rule, sampled({{state, 0.1}})},
                  {state, rule, sampled({{state, 0.5}}, {{"dram_utilisation", 0.8}})}});
  }
}

TEST(BarrierStalls, AreTheBarriersOwnUnlessWarpsWaitFarLonger) {
  Diagnosis d = sampled({{"barrier", 0.6}}, {{"barrier_wait", 40}});
  EXPECT_FALSE(uneven_warps(d)) << "the barrier takes 15 ns";
  EXPECT_EQ(barrier_stalls(d)->kind, BottleneckKind::cause);
  EXPECT_EQ(first_of(d), "barrier-stalls");
  set_metric(d, "barrier_wait", 1500);
  EXPECT_EQ(first_of(d), "uneven-warps");
  EXPECT_EQ(barrier_stalls(d)->kind, BottleneckKind::limit) << "it shows the cause";
  set_metric(d, "stall_long_scoreboard", 0.35);
  EXPECT_FALSE(uneven_warps(d)) << "memory comes late to some";
  set_metric(d, "dram_utilisation", 0.7);
  EXPECT_EQ(barrier_stalls(d)->kind, BottleneckKind::limit);
}

TEST(Blocks, TooFewUnevenOrTooManyForTheLastRound) {
  Diagnosis d = gpu({{"idle_share", 0.5}, {"sm_active", 0.55}, {"waves", 1.03}});
  EXPECT_EQ(tail_wave(d)->name, "tail-wave");
  EXPECT_NEAR(tail_wave(d)->bound, 1 / 0.55, 1e-9) << "no more than was seen";
  EXPECT_FALSE(uneven_blocks(d));
  set_metric(d, "sm_active", 0.98);
  EXPECT_FALSE(tail_wave(d)) << "the SMs were busy all the same";
  d.profile.metrics.push_back({.name = "blocks_per_sm", .value = 1, .unit = "limited by grid"});
  set_metric(d, "sm_active", 0.5);
  EXPECT_EQ(tail_wave(d)->name, "idle-sms");
  Diagnosis uneven = gpu({{"idle_share", 0.02}, {"sm_active", 0.2}});
  EXPECT_NEAR(uneven_blocks(uneven)->bound, 1 / (0.22 + 0.0015), 1e-9) << "one launch of 1.5 us is no idle block";
  uneven.profile.time_ns = 2000;  // a launch takes 1.5 us of these
  set_metric(uneven, "sm_active", 0.3);
  EXPECT_FALSE(uneven_blocks(uneven));
}

// 32 launches in which SMs have a block for a sixth of the time, and half of the whole is the launches' own.
TEST(Blocks, WhatStartingThemTakesIsTheLaunchesOwn) {
  Diagnosis d = gpu({{"idle_share", 0.02}, {"sm_active", 0.16}});
  d.profile.time_ns = 96e3;
  d.incumbent.launches.resize(32);
  EXPECT_EQ(first_of(d), "launch-overhead");
  EXPECT_NEAR(uneven_blocks(d)->bound, 1 / (1 - 0.32), 1e-9);
}

TEST(Lines, AreOfTheInstructionThatHoldsTheWarpsUp) {
  Diagnosis d = sampled({{"lg_throttle", 0.4}, {"long_scoreboard", 0.4}},
                        {{"sm__sass_inst_executed_op_local.sum", 10}, {"smsp__inst_executed.sum", 100}});
  EXPECT_EQ(register_spills(d)->line, 7) << "nothing is known of the instructions";
  d.profile.stalls.push_back({.kernel = "k",
                              .file = "variant.cu",
                              .line = 9,
                              .stall = "long_scoreboard",
                              .samples = 20,
                              .opcode = "LDL",
                              .cause_file = "variant.cu",
                              .cause_line = 8});
  EXPECT_EQ(register_spills(d)->line, 8) << "few of the samples, but those that local memory holds up";
  EXPECT_EQ(memory_latency_stalls(d)->line, 7) << "a wait is where warps wait";
  d.profile.stalls.back().cause_file = "local.hpp";
  EXPECT_EQ(register_spills(d)->line, 9) << "where a header is waited for";
}

TEST(Lines, OfWhatHasBeenExecutedAreNotThoseBehindIt) {
  Diagnosis d = sampled({{"barrier", 0.6}}, {{"barrier_wait", 1500}});
  for (StallSample& one : d.profile.stalls) {
    one.opcode = "BAR";
    one.cause_file = "variant.cu";
    one.cause_line = 3;
  }
  EXPECT_EQ(uneven_warps(d)->line, 3);
  EXPECT_EQ(barrier_stalls(d)->line, 3);
}

TEST(Lines, ThatWereCountedStandBeforeThoseThatWereSampled) {
  Diagnosis d = sampled({{"mio_throttle", 0.5}}, {{"bank_conflict_share", 0.9}});
  d.profile.counts = {{.what = "excess_sectors", .file = "variant.cu", .line = 1, .count = 1000},
                      {.what = "excess_wavefronts", .file = "math.hpp", .line = 2, .count = 900},
                      {.what = "excess_wavefronts", .file = "variant.cu", .line = 3, .count = 100},
                      {.what = "excess_wavefronts", .file = "variant.cu", .line = 4, .count = 200}};
  EXPECT_EQ(bank_conflicts(d)->line, 4);
  d.profile.counts.clear();
  EXPECT_EQ(bank_conflicts(d)->line, 7);
}

TEST(TinyBlocks, AreThoseThatTheNumberOfBlocksLimits) {
  Diagnosis d = gpu({{"occupancy", 0.5}, {"block_threads", 32}, {"blocks", 1e6}});
  EXPECT_FALSE(tiny_blocks(d));
  d.profile.metrics.push_back({.name = "blocks_per_sm", .value = 32, .unit = "limited by blocks"});
  EXPECT_NEAR(tiny_blocks(d)->bound, 2, 1e-9);
  set_metric(d, "dram_utilisation", 0.7);
  EXPECT_FALSE(tiny_blocks(d)) << "it is fast enough";
}

TEST(LowOccupancy, MattersWhereLatenciesAreLeft) {
  Diagnosis d = sampled({{"long_scoreboard", 0.6}}, {{"occupancy", 0.125}});
  EXPECT_EQ(low_occupancy(d)->kind, BottleneckKind::cause);
  d.profile.metrics.push_back({.name = "blocks_per_sm", .value = 1, .unit = "limited by grid"});
  EXPECT_EQ(low_occupancy(d)->kind, BottleneckKind::limit) << "the work may have no more blocks";
  EXPECT_FALSE(low_occupancy(sampled({{"barrier", 0.8}}, {{"occupancy", 0.125}})));
  EXPECT_FALSE(low_occupancy(sampled({{"long_scoreboard", 0.6}}, {{"occupancy", 0.125}, {"pipe_tensor", 0.7}})));
}

TEST(Units, TheL2IsHeldAgainstWhatWasMeasured) {
  // 2 GB in 1 ms, where 8 TB/s were reached: a quarter. 7 GB: 87 %.
  Diagnosis d = gpu({{"lts__t_sectors_op_read.sum", 2e9 / 32}, {"lts__t_sectors_op_write.sum", 0}});
  EXPECT_FALSE(l2_bound(d));
  set_metric(d, "lts__t_sectors_op_read.sum", 7e9 / 32);
  EXPECT_NEAR(l2_bound(d)->bound, 8.0 / 7, 1e-9);
  set_metric(d, "stall_long_scoreboard", 0.9);
  EXPECT_EQ(first_of(d), "l2-bound") << "the warps wait for it";
  set_metric(d, "dram_utilisation", 0.8);
  EXPECT_FALSE(l2_bound(d)) << "DRAM comes first";
}

TEST(Units, ShufflesAreHeldAgainstTheMeasuredRate) {
  EXPECT_NEAR(shuffle_bound(gpu({{"shuffled_lanes", 6.4e9}}))->bound, 1.25, 1e-9);
  EXPECT_FALSE(shuffle_bound(gpu({{"shuffled_lanes", 1e9}})));
}

TEST(Units, ThatWarpsWaitForIsFullBelowTheUsualShare) {
  EXPECT_FALSE(tensor_pipe(gpu({{"pipe_tensor", 0.5}})));
  EXPECT_TRUE(tensor_pipe(sampled({{"math_pipe_throttle", 0.4}}, {{"pipe_tensor", 0.5}, {"pipe_fp32", 0.1}})));
  EXPECT_FALSE(fp32_pipe(sampled({{"math_pipe_throttle", 0.4}}, {{"pipe_tensor", 0.5}, {"pipe_fp32", 0.1}})));
}

TEST(Units, IssueSlotsAreNoLimitWhereAPipeIsAsFull) {
  EXPECT_EQ(first_of(gpu({{"issue_utilisation", 0.98}, {"pipe_fp32", 0.95}})), "fp32-pipe");
  EXPECT_EQ(first_of(gpu({{"issue_utilisation", 0.98}, {"pipe_fp32", 0.5}})), "issue-bound");
}

TEST(Remainders, StandBehindWhatIsKnown) {
  Diagnosis d = sampled({{"long_scoreboard", 0.2}});
  d.work.flops = 1e6;
  d.profile.roofs.push_back(fixtures::roof("fp32_fma", 6e13));
  d.profile.roofs.push_back(fixtures::roof("special_tanh", 4e12));
  const auto all = diagnose(d);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "memory-latency-stalls");
  EXPECT_EQ(all[1].name, "per-step-overhead");
  EXPECT_GT(all[1].bound, all[0].bound);
}

}  // namespace
}  // namespace apo
