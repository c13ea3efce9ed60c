// tests/profile/gpu/gpu_profile_test.cpp - from counters of launches to metrics of a call, by hand.
#include "harness/profile/gpu/gpu_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "harness/core/records/profile.h"
#include "harness/worker/cupti/metric_names.h"

namespace apo {
namespace {

double value(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) {
      return metric.value;
    }
  }
  return std::nan("");
}

Profile with(const std::vector<std::pair<std::string, double>>& metrics) {
  Profile profile;
  for (const auto& [name, number] : metrics) {
    profile.metrics.push_back({.name = name, .value = number});
  }
  return profile;
}

// Two launches of 1 us and 3 us.
CounterReport two_launches() {
  return {.metrics = {"gpu__time_duration.sum", "dram__bytes_read.sum", "lts__t_sector_hit_rate.pct"},
          .launches = {{"first", {1000, 10, 20}}, {"second", {3000, 30, 60}}}};
}

TEST(CounterMetrics, SumsAddUpAndPercentagesAreMeansByDuration) {
  const auto metrics = counter_metrics(two_launches(), 1);
  EXPECT_EQ(value(metrics, "dram__bytes_read.sum"), 40);
  EXPECT_EQ(value(metrics, "lts__t_sector_hit_rate.pct"), (1 * 20 + 3 * 60) / 4.0);
  EXPECT_EQ(metrics[0].unit, "ns");
}

TEST(CounterMetrics, AreOfOneCallWhenSeveralWereCounted) {
  const auto metrics = counter_metrics(two_launches(), 2);
  EXPECT_EQ(value(metrics, "dram__bytes_read.sum"), 20);
  EXPECT_EQ(value(metrics, "lts__t_sector_hit_rate.pct"), 50);
}

TEST(ProfiledLaunches, HaveTheirCountersAndWhatTheirKernelWaitsFor) {
  const CounterReport report{
      .metrics = {"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                  "sm__warps_active.avg.pct_of_peak_sustained_active"},
      .launches = {
          {"_Z5scalePfi", {1000, 10, 2, 50}}, {"fill", {3000, 30, 1, std::nan("")}}, {"_Z5scalePfi", {5, 1, 1, 1}}}};
  const auto launches = profiled_launches(report, {{.kernel = "_Z5scalePfi", .stall = "wait", .samples = 3},
                                                   {.kernel = "_Z5scalePfi", .stall = "barrier", .samples = 4},
                                                   {.kernel = "_Z5scalePfi", .stall = "wait", .samples = 3},
                                                   {.kernel = "_Z5scalePfi", .stall = "selected", .samples = 90}});
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].kernel, "scale(float*, int)");
  EXPECT_EQ(launches[0].time_ns, 1000);
  EXPECT_EQ(launches[0].bytes_moved, 12);
  EXPECT_EQ(launches[0].occupancy, 0.5);
  EXPECT_TRUE(std::isnan(launches[0].issue)) << "it was not counted";
  EXPECT_EQ(launches[0].stall, "wait");
  EXPECT_EQ(launches[0].stall_share, 0.06);
  EXPECT_EQ(launches[1].kernel, "fill");
  EXPECT_TRUE(std::isnan(launches[1].occupancy));
  EXPECT_EQ(launches[1].stall, "");
  EXPECT_TRUE(std::isnan(launches[1].stall_share));
  EXPECT_EQ(launches[2].time_ns, 5) << "in the order of the call";
}

TEST(CounterMetrics, WithoutDurationsEveryLaunchWeighsTheSame) {
  const CounterReport report{.metrics = {"a.avg"}, .launches = {{"k", {1}}, {"l", {3}}}};
  EXPECT_EQ(value(counter_metrics(report, 1), "a.avg"), 2);
}

TEST(CounterMetrics, WhatTheGpuDidNotTellIsAbsent) {
  const double nan = std::nan("");
  const CounterReport report{.metrics = {"a.sum", "b.sum"}, .launches = {{"k", {nan, 1}}, {"l", {nan, nan}}}};
  const auto metrics = counter_metrics(report, 1);
  EXPECT_TRUE(std::isnan(value(metrics, "a.sum")));
  EXPECT_EQ(value(metrics, "b.sum"), 1);
  EXPECT_TRUE(counter_metrics({}, 1).empty());
}

TEST(DerivedMetrics, FollowFromTheirCounters) {
  Profile profile = with({{"dram__bytes_read.sum", 300},
                          {"dram__bytes_write.sum", 100},
                          {"sm__warps_active.avg.pct_of_peak_sustained_active", 25},
                          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 31},
                          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
                          {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 32},
                          {"sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 64},
                          {"sm__sass_inst_executed_op_global_ld.sum", 2},
                          {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 10},
                          {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
                          {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 2},
                          {"sm__sass_inst_executed_op_global_red.sum", 5}});
  const auto derived = derived_metrics(profile, {.bytes = 200});
  EXPECT_EQ(value(derived, "bytes_moved"), 400);
  EXPECT_EQ(value(derived, "bytes_over_compulsory"), 2);
  EXPECT_EQ(value(derived, "achieved_occupancy"), 0.25);
  EXPECT_NEAR(value(derived, "bank_conflict_share"), 31.0 / 32, 1e-12);
  EXPECT_EQ(value(derived, "sectors_per_load"), 32);
  EXPECT_EQ(value(derived, "executed_flops"), 23);
  EXPECT_EQ(value(derived, "atomics"), 5);
  for (const char* absent : {"l2_hit_rate", "sectors_per_store", "pipe_tensor", "local_bytes"}) {
    EXPECT_TRUE(std::isnan(value(derived, absent))) << absent;
  }
}

TEST(DerivedMetrics, GenericAccessesAreNotLocalMemory) {
  Profile profile;
  profile.metrics = {{.name = "sm__sass_data_bytes_mem_local.sum", .value = 4096},
                     {.name = "sm__sass_inst_executed_op_local.sum", .value = 0}};
  EXPECT_EQ(value(derived_metrics(profile, {}), "local_bytes"), 0);
  profile.metrics.back().value = 1;
  EXPECT_EQ(value(derived_metrics(profile, {}), "local_bytes"), 4096);
}

TEST(DerivedMetrics, OfKindsAreSharesOfTheThreadsInstructions) {
  Profile profile = with({{"smsp__thread_inst_executed.sum", 1000},
                          {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", 600},
                          {"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", 50},
                          {"smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum", 320},
                          {"smsp__sass_branch_targets.sum", 10},
                          {"smsp__sass_branch_targets_threads_divergent.sum", 4},
                          {"smsp__inst_executed_op_ldc.sum", 5},
                          {"idc__requests.sum", 100}});
  const auto derived = derived_metrics(profile, {});
  EXPECT_EQ(value(derived, "integer_share"), 0.6);
  EXPECT_EQ(value(derived, "fp64_share"), 0.05);
  EXPECT_EQ(value(derived, "shuffled_lanes"), 320);
  EXPECT_EQ(value(derived, "divergent_share"), 0.4);
  EXPECT_EQ(value(derived, "requests_per_constant_load"), 20);
  EXPECT_TRUE(std::isnan(value(derived, "conversion_share")));
}

// Two SMs with 8 warps for 1000 cycles each; half of the warps' time is spent at 40 barriers: 200 cycles at 2 GHz.
TEST(DerivedMetrics, TheWaitAtOneBarrierIsTheWarpsTimeOverTheBarriers) {
  Profile profile = with({{"stall_barrier", 0.5},
                          {"sm__warps_active.avg.per_cycle_active", 8},
                          {"sm__cycles_active.sum", 2000},
                          {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 80},
                          {"sm__cycles_elapsed.avg.per_second", 2e9},
                          {"sm__inst_executed_pipe_adu.sum", 45},
                          {"smsp__inst_executed_op_ldc.sum", 5}});
  const auto derived = derived_metrics(profile, {});
  EXPECT_NEAR(value(derived, "barrier_wait"), 100, 1e-9);
  EXPECT_EQ(value(derived, "sm_active"), 0.8);
  profile.metrics.back().value = 45;  // every one of them loads a constant
  EXPECT_TRUE(std::isnan(value(derived_metrics(profile, {}), "barrier_wait")));
}

TEST(DerivedMetrics, AreNeverInfiniteOrNaN) {
  Profile profile;
  for (const std::string& name : full_counters()) {
    profile.metrics.push_back({.name = name, .value = 0});
  }
  for (const Metric& metric : derived_metrics(profile, {})) {
    EXPECT_TRUE(std::isfinite(metric.value)) << metric.name;
  }
}

const std::vector<StallSample> kSamples = {{"k", 16, "variant.cu", 2, "barrier", 60},
                                           {"k", 32, "variant.cu", 2, "selected", 10},
                                           {"k", 48, "variant.cu", 3, "long_scoreboard", 25},
                                           {"k", 64, "math.hpp", 9, "wait", 4},
                                           {"k", 80, "", 0, "wait", 1}};

TEST(StallMetrics, AreSharesOfAllSamples) {
  const auto metrics = stall_metrics(kSamples);
  EXPECT_EQ(value(metrics, "stall_barrier"), 0.60);
  EXPECT_EQ(value(metrics, "stall_wait"), 0.05);
  EXPECT_TRUE(stall_metrics(std::vector<StallSample>()).empty());
}

TEST(StallMetrics, OfCountersAreSharesOfAllWarps) {
  const auto metrics = stall_metrics(
      std::vector<Metric>{{.name = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", .value = 6},
                          {.name = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", .value = 2},
                          {.name = "dram__bytes_read.sum", .value = 100}});
  EXPECT_EQ(value(metrics, "stall_barrier"), 0.75);
  EXPECT_EQ(metrics.size(), 2U);
}

TEST(TopStalls, AreSortedAndLeaveOutWarpsThatIssued) {
  Profile profile{.metrics = stall_metrics(kSamples)};
  const auto top = top_stalls(profile);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].first, "barrier");
  EXPECT_EQ(top[1].first, "long_scoreboard");
}

TEST(HotLines, CarryTheirTextAndTheirMostFrequentStall) {
  Profile profile;
  set_samples(profile, kSamples, 100, {{"variant.cu", "// first\n  __syncthreads();\n\ty = x[i];\n", ""}});
  const auto lines = hot_lines(profile, 2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, 2);
  EXPECT_EQ(lines[0].text, "__syncthreads();");
  EXPECT_EQ(lines[0].samples, 70);
  EXPECT_EQ(lines[0].share, 0.70);
  EXPECT_EQ(lines[0].stall, "barrier");
  EXPECT_NEAR(lines[0].stall_share, 60.0 / 70, 1e-12);
  EXPECT_EQ(lines[1].text, "y = x[i];");
  EXPECT_EQ(hot_lines(profile, 9).size(), 3U) << "a sample without a line has none";
  EXPECT_EQ(hot_lines(profile, 9)[2].text, "") << "the text of other files is not known";
}

TEST(SetSamples, KeepTheTextOfLinesInHeadersOfTheVariant) {
  Profile profile;
  set_samples(profile, {{"k", 16, "phases.cuh", 2, "barrier", 60}}, 100,
              {{"variant.cu", "a\nb\n", ""}, {"phases.cuh", "c\nd\n", ""}});
  ASSERT_EQ(profile.lines.size(), 1U);
  EXPECT_EQ(profile.lines[0].text, "d");
}

TEST(SetSamples, KeepsTheMostFrequent) {
  Profile profile;
  set_samples(profile, kSamples, 2, {{"variant.cu", "one line", ""}});
  ASSERT_EQ(profile.stalls.size(), 2U);
  EXPECT_EQ(profile.stalls[0].samples, 60);
  EXPECT_EQ(profile.stalls[1].samples, 25);
  EXPECT_TRUE(profile.lines.empty()) << "the source has no second line";
  EXPECT_TRUE(hot_lines({}, 5).empty());
}

// Two kernels, of which the second one is launched twice: 4 warps pass 10 barriers each, and 8 warps in two launches
// one each.
InstructionReport two_kernels() {
  const auto row = [](const char* kernel, std::int64_t pc, const char* opcode, int line, std::int64_t warps) {
    InstructionCount one{.kernel = kernel, .pc_offset = pc, .opcode = opcode, .file = "variant.cu", .line = line};
    one.values.assign(kCountedKinds, 0);
    one.values[kWarps] = warps;
    one.values[kThreads] = 32 * warps;
    return one;
  };
  return {.instructions = {row("a", 0, "", 1, 4), row("a", 64, "BAR", 5, 40), row("b", 0, "", 1, 8),
                           row("b", 96, "BAR", 9, 8)},
          .kernels = {"a", "b", "b"}};
}

TEST(InstructionMetrics, BarriersAreThoseThatAWarpPasses) {
  const Profile p{.metrics = instruction_metrics(two_kernels(), {.serial_steps = 6})};
  EXPECT_EQ(p.metric("barriers"), 48);
  EXPECT_EQ(p.metric("barriers_per_warp"), 10 + 1 + 1);
  EXPECT_EQ(p.metric("barriers_per_step"), 2);
  const Profile no_steps{.metrics = instruction_metrics(two_kernels(), {})};
  EXPECT_TRUE(std::isnan(no_steps.metric("barriers_per_step"))) << "the work has no steps";
  EXPECT_TRUE(instruction_metrics({.missing = "no"}, {}).empty()) << "nothing was counted, which is not 0 barriers";
}

TEST(InstructionMetrics, CountedBarriersTakeThePlaceOfTheirUnitsInstructions) {
  Profile p{.metrics = {{.name = "stall_barrier", .value = 0.5},
                        {.name = "sm__warps_active.avg.per_cycle_active", .value = 10},
                        {.name = "sm__cycles_active.sum", .value = 1000},
                        {.name = "sm__cycles_elapsed.avg.per_second", .value = 1e9},
                        {.name = "sm__inst_executed_pipe_adu.sum", .value = 150},
                        {.name = "smsp__inst_executed_op_ldc.sum", .value = 50}}};
  const Profile estimated{.metrics = derived_metrics(p, {})};
  EXPECT_NEAR(estimated.metric("barrier_wait"), 50, 1e-9);
  p.metrics.push_back({.name = "barriers", .value = 50});
  const Profile counted{.metrics = derived_metrics(p, {})};
  EXPECT_NEAR(counted.metric("barrier_wait"), 100, 1e-9);
}

TEST(LineCounts, AreSumsOfWhatIsWastedTheLargestFirst) {
  InstructionReport report = two_kernels();
  report.instructions[0].values[kGlobalSectors] = 40;
  report.instructions[0].values[kGlobalIdeal] = 8;
  report.instructions[2].values[kGlobalSectors] = 16;
  report.instructions[2].values[kGlobalIdeal] = 16;
  report.instructions[3].values[kThreads] = 100;
  report.instructions[3].values[kDivergent] = 3;
  std::map<std::string, std::vector<std::pair<int, std::int64_t>>> counts;
  for (const LineCount& one : line_counts(report)) {
    counts[one.what].emplace_back(one.line, one.count);
  }
  using Lines = std::vector<std::pair<int, std::int64_t>>;
  EXPECT_EQ(counts["barriers"], (Lines{{5, 40}, {9, 8}}));
  EXPECT_EQ(counts["excess_sectors"], (Lines{{1, 32}}));
  EXPECT_EQ(counts["idle_lanes"], (Lines{{9, 32 * 8 - 100}}));
  EXPECT_EQ(counts["divergent_branches"], (Lines{{9, 3}}));
  EXPECT_EQ(counts.size(), 4U);
}

TEST(HotLines, AddUpByTheCallingLineAndShowTheLargestChain) {
  Profile profile;
  profile.stalls = {
      {.kernel = "k", .file = "a.cu", .line = 6, .stall = "wait", .samples = 20, .inlined = "low (h.h:5)"},
      {.kernel = "k", .file = "a.cu", .line = 6, .stall = "barrier", .samples = 30, .inlined = "high (h.h:9)"},
      {.kernel = "k", .file = "a.cu", .line = 7, .stall = "wait", .samples = 40}};
  const auto lines = hot_lines(profile, 9);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, 6);
  EXPECT_EQ(lines[0].samples, 50);
  EXPECT_EQ(lines[0].inlined, "high (h.h:9)");
  EXPECT_EQ(lines[1].inlined, "");
}

}  // namespace
}  // namespace apo
