// tests/worker/cupti/metric_names_test.cpp - sets of counters, help with names, reports on their way, and the
// profiler's lock.
#include "harness/worker/cupti/metric_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "harness/worker/cupti/instruction_counts.h"
#include "harness/worker/cupti/profile_results.h"
#include "harness/worker/cupti/profiler_lock.h"
#include "harness/worker/protocol/protocol.h"

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

TEST(CounterReport, SurvivesTheWayToTheParent) {
  const CounterReport report{
      .metrics = {"a.sum", "b.pct"},
      .launches = {{.kernel = "k", .values = {1e300, std::nan("")}}, {.kernel = "l \"\n", .values = {0.1, 2}}},
      .refused = {{.metric = "c", .why = "d"}},
      .clamped = {"b.pct"},
      .passes = 4,
      .chip = "GH100",
      .missing = "m",
      .steps = {{.what = "session", .seconds = 0.25}, {.what = "pass 1 start", .seconds = 0.125}}};
  const auto back = decode_counters(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->metrics, report.metrics);
  ASSERT_EQ(back->launches.size(), 2U);
  EXPECT_EQ(back->launches[0].values[0], 1e300);
  EXPECT_TRUE(std::isnan(back->launches[0].values[1]));
  EXPECT_EQ(back->launches[1].kernel, "l \"\n");
  EXPECT_EQ(back->refused.front().why, "d");
  EXPECT_EQ(back->clamped, report.clamped);
  EXPECT_EQ(back->passes, 4);
  EXPECT_EQ(back->chip + back->missing, "GH100m");
  ASSERT_EQ(back->steps.size(), 2U);
  EXPECT_EQ(back->steps[1].what, "pass 1 start");
  EXPECT_EQ(back->steps[1].seconds, 0.125);
}

TEST(CounterReport, WithAValueTooFewIsRefused) {
  EXPECT_FALSE(decode_counters(encode(CounterReport{.metrics = {"a", "b"}, .launches = {{"k", {1}}}})));
  EXPECT_FALSE(decode_counters("{}"));
  EXPECT_FALSE(decode_counters("not JSON"));
}

TEST(SampleReport, SurvivesTheWayToTheParent) {
  const SampleReport report{.samples = {{.kernel = "k",
                                         .pc_offset = 1LL << 40,
                                         .file = "variant.cu",
                                         .line = 7,
                                         .stall = "barrier",
                                         .samples = 1LL << 33,
                                         .opcode = "BAR",
                                         .cause_file = "b.cu",
                                         .cause_line = 6,
                                         .inlined = "low (b.h:2)"}},
                            .total = 9,
                            .dropped = 2,
                            .missing = "\xff"};
  const auto back = decode_samples(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->samples, report.samples);
  EXPECT_EQ(back->total + back->dropped, 11);
  EXPECT_FALSE(decode_samples(R"({"samples":[[1]],"total":0,"dropped":0,"missing":""})"));
}

TEST(Protocol, ProfileRequestsSurviveTheWayToTheWorker) {
  const Request count = decode_request(encode(
      Request{.nonce = "n",
              .body = CountRequest{.slot = 1, .metrics = {"a.sum"}, .cache = CachePolicy::warm, .read_back = true}}));
  const auto& counted = std::get<CountRequest>(count.body);
  EXPECT_EQ(counted.slot, 1);
  EXPECT_EQ(counted.metrics, std::vector<std::string>{"a.sum"});
  EXPECT_EQ(counted.cache, CachePolicy::warm);
  EXPECT_TRUE(counted.read_back);
  const Request sample = decode_request(encode(
      Request{.nonce = "n",
              .body = SampleRequest{.slot = 1, .repetitions = 5, .cache = CachePolicy::cold, .period_log2 = 12}}));
  const auto& sampled = std::get<SampleRequest>(sample.body);
  EXPECT_EQ(sampled.repetitions, 5);
  EXPECT_EQ(sampled.cache, CachePolicy::cold);
  EXPECT_EQ(sampled.period_log2, 12);
  const Request instructions = decode_request(encode(Request{.nonce = "n", .body = InstructionRequest{.slot = 1}}));
  EXPECT_EQ(std::get<InstructionRequest>(instructions.body).slot, 1);
}

TEST(ProfileResults, CountsOfInstructionsComeBackAsTheyWere) {
  InstructionReport report{.kernels = {"k", "k"}, .missing = "no"};
  report.instructions.push_back({.kernel = "k",
                                 .pc_offset = 32,
                                 .opcode = "LDG",
                                 .file = "a.cu",
                                 .line = 4,
                                 .values = std::vector<std::int64_t>(kCountedKinds, 1LL << 40)});
  const auto back = decode_instructions(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kernels, report.kernels);
  EXPECT_EQ(back->missing, "no");
  ASSERT_EQ(back->instructions.size(), 1U);
  EXPECT_EQ(back->instructions[0].values, report.instructions[0].values);
  EXPECT_EQ(back->instructions[0].opcode + back->instructions[0].file, "LDGa.cu");
  EXPECT_FALSE(decode_instructions(R"({"instructions":[["k",0,"","",0,[1,2]]],"kernels":[],"missing":""})"))
      << "it has too few values for what would be read from it";
  EXPECT_FALSE(decode_instructions("{}"));
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
