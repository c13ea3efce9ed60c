// tests/worker/cupti/metric_names_test.cpp - sets of counters, help with names, and the profiler's lock.
#include "harness/worker/cupti/metric_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "harness/worker/cupti/profiled_gpu.h"

namespace apo {
namespace {

const std::vector<std::string> kBases = {"dram__bytes_read", "dram__bytes_write", "lts__t_sector_hit_rate",
                                         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld"};

TEST(MetricNames, EverySetNamesEachCounterOnce) {
  for (const auto* names : {&default_counters(), &stall_counters(), &full_counters()}) {
    EXPECT_EQ(std::set<std::string>(names->begin(), names->end()).size(), names->size());
  }
}

TEST(MetricNames, StallsOfCountersAndSamplesHaveTheSameWords) {
  EXPECT_EQ(stall_of_counter("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"), "barrier");
  EXPECT_EQ(stall_of_counter("dram__bytes_read.sum"), "");
  EXPECT_EQ(stall_of_sample("smsp__pcsamp_warps_issue_stalled_barrier"), "barrier");
  EXPECT_EQ(stall_of_sample("smsp__pcsamp_warps_issue_stalled_no_instructions"), "no_instruction");
  EXPECT_EQ(stall_of_sample("smsp__pcsamp_warps_issue_stalled_barrier_not_issued"), "barrier");
  EXPECT_TRUE(is_not_issued("smsp__pcsamp_warps_issue_stalled_barrier_not_issued"));
  EXPECT_FALSE(is_not_issued("smsp__pcsamp_warps_issue_stalled_barrier"));
  EXPECT_EQ(stall_of_sample("smsp__pcsamp_sample_count"), "");
}

TEST(MetricNames, UnitsFollowFromTheName) {
  EXPECT_EQ(metric_unit("dram__bytes_read.sum"), "byte");
  EXPECT_EQ(metric_unit("gpu__time_duration.sum"), "ns");
  EXPECT_EQ(metric_unit("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"), "%");
  EXPECT_EQ(metric_unit("sm__warps_active.avg.pct_of_peak_sustained_active"), "%");
  EXPECT_EQ(metric_unit("smsp__inst_executed.sum"), "");
}

TEST(MetricNames, ARefusalNamesWhatIsNear) {
  EXPECT_EQ(explain_refused("dram__byts_read.sum", kBases, {}),
            "this GPU has no counter 'dram__byts_read'; did you mean 'dram__bytes_read'?");
  EXPECT_EQ(explain_refused("bank_conflicts_shared_ld.sum", kBases, {}),
            "this GPU has no counter 'bank_conflicts_shared_ld'; did you mean "
            "'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld'?");
  EXPECT_EQ(explain_refused("zzz", kBases, {}), "this GPU has no counter 'zzz'");
}

TEST(MetricNames, ARefusalOfAKnownBaseNamesItsRollUps) {
  EXPECT_EQ(explain_refused("dram__bytes_read", kBases, {".sum", ".avg"}),
            "'dram__bytes_read' needs a roll-up; it has .sum .avg");
  EXPECT_EQ(explain_refused("dram__bytes_read.total", kBases, {".sum"}),
            "'dram__bytes_read' needs another roll-up than '.total'; it has .sum");
}

TEST(MetricNames, MetricsOfNcuAloneAreSaidToBeNone) {
  EXPECT_NE(explain_refused("launch__occupancy_limit_registers", kBases, {}).find("computes occupancy"),
            std::string::npos);
}

TEST(ProfilerLock, ASecondOneWaitsForTheFirst) {
  const std::string uuid = "GPU-test-" + std::to_string(getpid());
  {
    const ProfilerLock first(uuid, std::chrono::milliseconds(0));
    EXPECT_TRUE(first.held());
    const ProfilerLock second(uuid, std::chrono::milliseconds(120));
    EXPECT_FALSE(second.held());
    EXPECT_TRUE(ProfilerLock(uuid + "-other", std::chrono::milliseconds(0)).held());
  }
  EXPECT_TRUE(ProfilerLock(uuid, std::chrono::milliseconds(0)).held());
  for (const std::string& one : {uuid, uuid + "-other"}) {
    std::filesystem::remove(profiler_lock_path(one));
  }
}

TEST(ProfilerLock, AFileThatCannotBeOpenedStopsNobody) {
  const std::string uuid = "no/such/folder";
  EXPECT_FALSE(ProfilerLock(uuid, std::chrono::milliseconds(0)).held());
}

}  // namespace
}  // namespace apo
