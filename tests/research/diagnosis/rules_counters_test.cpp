// tests/research/diagnosis/rules_counters_test.cpp - each rule over counters on a made-up set of metrics, bounds worked
// out by hand.
#include <gtest/gtest.h>

#include "harness/research/diagnosis/rules.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::set_metric;

// A call of 1 ms on a GPU, with nothing counted yet and a floor at a hundredth.
Diagnosis gpu() {
  Diagnosis d = fixtures::diagnosis(1);
  d.profile.metrics.clear();
  d.incumbent.target = Target::cuda;
  return d;
}

Diagnosis with(const std::vector<std::pair<std::string, double>>& metrics) {
  Diagnosis d = gpu();
  for (const auto& [name, value] : metrics) {
    set_metric(d, name, value);
  }
  return d;
}

TEST(CounterRules, AreSilentWithoutCountersAndOnTheHost) {
  const Rule rules[] = {dram_bound,       bank_conflicts,  shared_memory_stalls,  uncoalesced_access, idle_lanes,
                        unused_occupancy, register_spills, special_function_pipe, fp32_pipe,          tensor_pipe,
                        atomics,          issue_bound};
  Diagnosis host = with({{"dram_utilisation", 0.9},
                         {"bank_conflict_share", 0.9},
                         {"load_efficiency", 0.1},
                         {"threads_per_instruction", 4},
                         {"issue_utilisation", 0.9},
                         {"pipe_fp32", 0.9}});
  host.incumbent.target = Target::host;
  for (const Rule rule : rules) {
    EXPECT_FALSE(rule(gpu()));
    EXPECT_FALSE(rule(host));
  }
}

TEST(DramBound, BoundsTheGainByTheUtilisationAndTheExcessBytes) {
  Diagnosis d = with({{"dram_utilisation", 0.8}, {"bytes_moved", 3e9}, {"bytes_over_compulsory", 1.5}});
  const auto found = dram_bound(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 1.5 / 0.8, 1e-9);
  EXPECT_NE(found->evidence.find("1.50x the compulsory bytes"), std::string::npos) << found->evidence;
  set_metric(d, "bytes_over_compulsory", 0.3);  // the rest stayed in the L2
  EXPECT_NEAR(dram_bound(d)->bound, 1.25, 1e-9);
  set_metric(d, "dram_utilisation", 0.5);
  EXPECT_FALSE(dram_bound(d));
}

TEST(BankConflicts, CountOnlyAsFarAsWarpsWaitForSharedMemory) {
  Diagnosis d = with({{"bank_conflict_share", 0.5}});
  EXPECT_NEAR(bank_conflicts(d)->bound, 2, 1e-9) << "without samples they may be all of the time";
  set_metric(d, "stall_selected", 0.2);
  EXPECT_FALSE(bank_conflicts(d)) << "no warp waits for shared memory";
  set_metric(d, "stall_mio_throttle", 0.3);
  set_metric(d, "stall_short_scoreboard", 0.1);
  EXPECT_NEAR(bank_conflicts(d)->bound, 1 / (0.6 + 0.4 / 2), 1e-9);
  set_metric(d, "bank_conflict_share", 0.05);
  EXPECT_FALSE(bank_conflicts(d));
}

TEST(SharedMemoryStalls, AddTheLatencyAndTheQueue) {
  EXPECT_NEAR(shared_memory_stalls(with({{"stall_short_scoreboard", 0.2}, {"stall_mio_throttle", 0.3}}))->bound, 2,
              1e-9);
  EXPECT_FALSE(shared_memory_stalls(with({{"stall_short_scoreboard", 0.1}})));
}

TEST(UncoalescedAccess, NamesTheWorseOfLoadsAndStores) {
  Diagnosis d = with({{"load_efficiency", 0.25}, {"store_efficiency", 0.9}, {"sectors_per_load", 16}});
  const auto found = uncoalesced_access(d);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound, 4, 1e-9);
  EXPECT_NE(found->evidence.find("loads use 25 % of the bytes of their sectors and touch 16 sectors"),
            std::string::npos)
      << found->evidence;
  set_metric(d, "stall_selected", 0.5);
  EXPECT_FALSE(uncoalesced_access(d)) << "nobody waits for memory";
  set_metric(d, "stall_long_scoreboard", 0.4);
  EXPECT_NEAR(uncoalesced_access(d)->bound, 1 / (0.6 + 0.4 / 4), 1e-9);
  set_metric(d, "load_efficiency", 0.8);
  EXPECT_FALSE(uncoalesced_access(d));
  set_metric(d, "store_efficiency", 0.3);
  EXPECT_NE(uncoalesced_access(d)->evidence.find("stores use 30 %"), std::string::npos);
}

TEST(UncoalescedAccess, IsSilentWhereNothingIsLoaded) {
  EXPECT_FALSE(uncoalesced_access(with({{"load_efficiency", 0}, {"store_efficiency", 0}})));
}

TEST(IdleLanes, BoundTheGainByTheLanes) {
  EXPECT_NEAR(idle_lanes(with({{"threads_per_instruction", 8}}))->bound, 4, 1e-9);
  EXPECT_FALSE(idle_lanes(with({{"threads_per_instruction", 31}})));
  EXPECT_FALSE(idle_lanes(with({{"threads_per_instruction", 0}})));
}

TEST(UnusedOccupancy, HoldsWhatWasAchievedAgainstWhatFits) {
  EXPECT_NEAR(unused_occupancy(with({{"occupancy", 0.5}, {"achieved_occupancy", 0.25}}))->bound, 2, 1e-9);
  EXPECT_FALSE(unused_occupancy(with({{"occupancy", 0.5}, {"achieved_occupancy", 0.45}})));
}

TEST(RegisterSpills, TellSpillsFromArraysInLocalMemory) {
  Diagnosis d = with({{"sm__sass_inst_executed_op_local.sum", 10},
                      {"smsp__inst_executed.sum", 100},
                      {"local_bytes", 4096},
                      {"spill_bytes", 128}});
  EXPECT_NE(register_spills(d)->evidence.find("spilled 128"), std::string::npos) << register_spills(d)->evidence;
  set_metric(d, "spill_bytes", 0);
  EXPECT_NE(register_spills(d)->evidence.find("indexed at run time"), std::string::npos);
  set_metric(d, "sm__sass_inst_executed_op_local.sum", 1);
  EXPECT_FALSE(register_spills(d));
}

TEST(BusyPipes, FireAboveSixtyPercent) {
  EXPECT_NEAR(special_function_pipe(with({{"pipe_special", 0.8}}))->bound, 1.25, 1e-9);
  EXPECT_NEAR(fp32_pipe(with({{"pipe_fp32", 0.8}}))->bound, 1.25, 1e-9);
  EXPECT_NEAR(tensor_pipe(with({{"pipe_tensor", 0.8}}))->bound, 1.25, 1e-9);
  EXPECT_FALSE(special_function_pipe(with({{"pipe_special", 0.5}})));
}

TEST(Atomics, FireWhenTheyAreMoreThanAFewInstructions) {
  Diagnosis d =
      with({{"atomics", 5}, {"smsp__inst_executed.sum", 100}, {"stall_selected", 0.2}, {"stall_lg_throttle", 0.5}});
  EXPECT_NEAR(atomics(d)->bound, 2, 1e-9);
  set_metric(d, "atomics", 0.5);
  EXPECT_FALSE(atomics(d));
}

TEST(IssueBound, FiresWhenAlmostEverySlotIssues) {
  EXPECT_NEAR(issue_bound(with({{"issue_utilisation", 0.8}}))->bound, 1.25, 1e-9);
  EXPECT_FALSE(issue_bound(with({{"issue_utilisation", 0.7}})));
}

TEST(StallRules, FireOnSampledShares) {
  EXPECT_NEAR(barrier_stalls(with({{"stall_barrier", 0.5}}))->bound, 2, 1e-9);
  EXPECT_NEAR(memory_latency_stalls(with({{"stall_long_scoreboard", 0.75}}))->bound, 4, 1e-9);
}

}  // namespace
}  // namespace apo
