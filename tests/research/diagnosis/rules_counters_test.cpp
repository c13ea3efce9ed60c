// tests/research/diagnosis/rules_counters_test.cpp - rules over counters, with bounds worked out by hand.
#include <gtest/gtest.h>

#include "harness/research/diagnosis/rules.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::expect_rules;

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
