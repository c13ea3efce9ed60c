// tests/cuda/counters_test.cpp - hardware counters and PC samples on a real GPU, held against work that is known
// exactly.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <map>
#include <memory>

#include "harness/core/error.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/worker/code/line_table.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/cupti/profilers.h"
#include "harness/worker/parent/worker.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/cuda/metric_lists.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr const char* kRead = "dram__bytes_read.sum";
constexpr const char* kWritten = "dram__bytes_write.sum";

constexpr const char* kCopy =
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
    "  if (i < a.n) a.y[i] = a.x[i];\n}\n";
// 64 blocks of 256 threads; 8 chains of 1000 fused multiply-adds in each.
constexpr const char* kFfma =
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  float s[8];\n"
    "  for (int j = 0; j < 8; ++j) s[j] = threadIdx.x + j;\n"
    "  for (int i = 0; i < 1000; ++i)\n"
    "    for (int j = 0; j < 8; ++j) s[j] = __fmaf_rn(s[j], 0.999f, 0.5f);\n"
    "  float sum = 0;\n"
    "  for (int j = 0; j < 8; ++j) sum += s[j];\n"
    "  if (sum == 123.25f) a.y[0] = sum;\n}\n";
// 8 warps in each of 64 blocks; each warp loads 256 times with all lanes in one bank.
constexpr const char* kBankConflicts =
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  __shared__ float sm[1024];\n"
    "  for (int i = threadIdx.x; i < 1024; i += 256) sm[i] = i;\n"
    "  __syncthreads();\n"
    "  volatile float* v = sm;\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < 256; ++i) sum += v[(threadIdx.x & 31) * 32 + (i & 31)];\n"
    "  if (sum == 123.25f) a.y[0] = sum;\n}\n";
// Only the first warp works between barriers: the file's line 10 has the work and line 11 the barrier.
constexpr const char* kBarriers =
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  float s = threadIdx.x;\n"
    "  for (int i = 0; i < 512; ++i) {\n"
    "    if (threadIdx.x < 32) for (int j = 0; j < 64; ++j) s = __fmaf_rn(s, 0.999f, 1.0f);\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (s == 123.25f) a.y[0] = s;\n}\n";

WorkerOptions patient_worker() {
  WorkerOptions options = testing::cuda_worker();
  options.deadline = std::chrono::milliseconds(60'000);
  return options;
}

// One worker with one kernel in it.
class Bench {
 public:
  Bench(const std::string& code, std::int64_t n, const std::string& launch)
      : gpu_(testing::copy_tensors(n), patient_worker()) {
    load(code, launch);
  }
  // In place of the kernel before. `code` begins in line 7.
  void load(const std::string& code, const std::string& launch) {
    if (const auto loaded = gpu_.load(gpu_.build({"launch k " + launch}, code)); !loaded) {
      throw std::runtime_error(loaded.failure().evidence);
    }
  }
  Worker& worker() { return gpu_.worker(); }
  const SharedTensors& shared_tensors() { return gpu_.tensors(); }

 private:
  testing::CopyOnGpu gpu_;
};

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      const Worker probe(patient_worker());
      uuid_ = probe.device()->uuid;
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  // The launches' values by metric; a GPU whose counters this user may not read skips the test.
  static std::map<std::string, double> count(Bench& bench, const std::vector<std::string>& metrics,
                                             CachePolicy cache = CachePolicy::cold) {
    const auto report = bench.worker().count({.metrics = metrics, .cache = cache});
    EXPECT_TRUE(report) << report.failure().evidence;
    std::map<std::string, double> values;
    if (!report || !report->missing.empty()) {
      std::cout << "  missing: " << (report ? report->missing : "") << "\n";
      return values;
    }
    return values_of(*report);
  }
  // Of the only launch.
  static std::map<std::string, double> values_of(const CounterReport& report) {
    EXPECT_EQ(report.launches.size(), 1U);
    EXPECT_EQ(report.launches.front().kernel, "k");
    std::map<std::string, double> values;
    for (std::size_t i = 0; i < report.metrics.size(); ++i) {
      values[report.metrics[i]] = report.launches.front().values[i];
      std::cout << "  " << report.metrics[i] << " " << values[report.metrics[i]] << "\n";
    }
    std::cout << "  " << report.passes << " passes on " << report.chip << "\n";
    return values;
  }
  std::string uuid_;
};

#define APO_SKIP_IF_MISSING(values)                                 \
  if ((values).empty()) {                                           \
    GTEST_SKIP() << "the counters of this GPU cannot be read here"; \
  }

// A report that failed fails the test; one that a GPU does not let this user have skips it.
#define APO_MEASURED_OR_SKIP(report)                  \
  ASSERT_TRUE(report) << (report).failure().evidence; \
  if (!(report)->missing.empty()) {                   \
    GTEST_SKIP() << (report)->missing;                \
  }

TEST_F(Counters, ACopyMovesItsBytesThroughDram) {
  constexpr std::int64_t kFloats = std::int64_t{64} << 20;  // 256 MB in, 256 MB out
  Bench bench(kCopy, kFloats, "grid=ceil_div(n,256) block=256");
  auto values = count(bench, {kRead, kWritten});
  APO_SKIP_IF_MISSING(values);
  EXPECT_NEAR(values[kRead] / (4.0 * kFloats), 1, 0.01);
  // What is written last may still lie in the L2 when the counting ends, and what lay there before is written back.
  EXPECT_NEAR(values[kWritten], 4.0 * kFloats, 2 * 64e6);
}

// Shows how much of the flush's own dirty lines is counted as the kernel's writes.
TEST_F(Counters, AnEmptyKernelReadsNothingAndWritesAtMostWhatTheFlushLeftInTheL2) {
  Bench bench("extern \"C\" __global__ void k(copy_args) {}\n", 1024, "grid=1 block=32");
  for (const CachePolicy cache : {CachePolicy::cold, CachePolicy::warm}) {
    auto values = count(bench, {kRead, kWritten}, cache);
    APO_SKIP_IF_MISSING(values);
    EXPECT_LT(values[kRead], 4e6);
    EXPECT_LT(values[kWritten], 64e6);
  }
}

TEST_F(Counters, WhatAKernelDoesIsCountedExactly) {
  const struct {
    const char* code;
    const char* metric;
    double count;
  } cases[] = {{kFfma, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 64.0 * 256 * 8 * 1000},
               // A load with all lanes in one bank has 31 conflicts.
               {kBankConflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 64.0 * 8 * 256 * 31}};
  for (const auto& one : cases) {
    Bench bench(one.code, 1024, "grid=64 block=256");
    auto values = count(bench, {one.metric});
    APO_SKIP_IF_MISSING(values);
    EXPECT_NEAR(values.begin()->second / one.count, 1, one.code == kFfma ? 0 : 0.001);
  }
}

TEST_F(Counters, TheDefaultSetIsWholeAndWarpsWaitAtTheBarrier) {
  Bench bench(kBarriers, 1024, "grid=264 block=1024");
  std::vector<std::string> metrics = default_counters();
  metrics.insert(metrics.end(), stall_counters().begin(), stall_counters().end());
  auto values = count(bench, metrics);
  APO_SKIP_IF_MISSING(values);
  EXPECT_EQ(values.size(), metrics.size());
  std::string top;
  double most = 0;
  for (const std::string& name : stall_counters()) {
    top = values[name] > most ? stall_of_counter(name) : top;
    most = std::max(most, values[name]);
  }
  EXPECT_EQ(top, "barrier");
  for (const auto& [name, value] : values) {
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_TRUE(!is_percentage(name) || value <= 100) << name;
  }
}

// What does not depend on the kernel comes once a process, and is left out here: the first count.
CounterReport count_alone(Bench& bench, const std::vector<std::string>& metrics) {
  const auto first = bench.worker().count({.metrics = {kRead}});
  EXPECT_TRUE(first) << first.failure().evidence;
  std::cout << "  steps of the process's first count: " << (first ? testing::steps_text(*first) : "") << "\n";
  const auto begin = std::chrono::steady_clock::now();
  const auto report = bench.worker().count({.metrics = metrics});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(report) << report.failure().evidence;
  std::cout << "  " << metrics.size() << " counters, " << (report ? report->passes : 0) << " passes, "
            << elapsed.count() << " s\n  steps: " << (report ? testing::steps_text(*report) : "") << "\n";
  return report ? *report : CounterReport();
}

TEST_F(Counters, TheDefaultSetTakesFewPasses) {
  Bench bench(kCopy, 1 << 20, "grid=ceil_div(n,256) block=256");
  EXPECT_LE(count_alone(bench, default_counters()).passes, 6);
}

TEST_F(Counters, ALongListOfFiveKernelsIsCountedInOneSession) {
  std::string code = kCopy;
  std::string launches = "grid=ceil_div(n,256) block=256";
  for (const char* name : {"l", "m", "o", "p"}) {
    launches += std::string("\n// apo:launch ") + name + " grid=ceil_div(n,256) block=256";
    code += "extern \"C\" __global__ void " + std::string(name) +
            "(copy_args a) { a.y[256LL * blockIdx.x + threadIdx.x] = a.x[256LL * blockIdx.x + threadIdx.x]; }\n";
  }
  Bench bench(code, 1 << 20, launches);
  const CounterReport report = count_alone(bench, testing::long_list());
  EXPECT_LE(report.passes, 20);
  EXPECT_EQ(report.launches.size(), 5U);
  EXPECT_EQ(report.metrics.size(), testing::long_list().size());
}

// One process counts one kernel after the other, each loaded in the place of the one before.
TEST_F(Counters, AKernelIsCountedTheSameAfterOthersInItsPlace) {
  Bench bench(kFfma, 1024, "grid=64 block=256");
  const CounterReport first = count_alone(bench, testing::short_list());
  if (!first.missing.empty()) {
    GTEST_SKIP() << first.missing;
  }
  for (int i = 0; i < 4; ++i) {
    bench.load(std::string(kCopy) + "extern \"C\" __global__ void l(copy_args) {}\n",
               "grid=4 block=256\n// apo:launch l grid=1 block=32");
    EXPECT_EQ(count_alone(bench, testing::short_list()).launches.size(), 2U);
  }
  bench.load(kFfma, "grid=64 block=256");
  const CounterReport again = count_alone(bench, testing::short_list());
  ASSERT_EQ(again.launches.size(), 1U) << again.missing;
  EXPECT_EQ(again.passes, first.passes);
  for (std::size_t i = 0; i < again.metrics.size(); ++i) {
    if (again.metrics[i].find("inst_executed") != std::string::npos) {
      EXPECT_EQ(again.launches[0].values[i], first.launches[0].values[i]) << again.metrics[i];
    }
  }
}

// Every pass runs the kernel again; between them CUPTI restores what it wrote.
TEST_F(Counters, MemoryIsRestoredBetweenPasses) {
  Bench bench("extern \"C\" __global__ void k(copy_args a) { atomicAdd(reinterpret_cast<unsigned*>(a.y), 1u); }\n",
              1024, "grid=1 block=1");
  const auto report = bench.worker().count({.metrics = default_counters(), .read_back = true});
  APO_MEASURED_OR_SKIP(report);
  EXPECT_GT(report->passes, 1);
  unsigned counter = 0;
  std::memcpy(&counter, bench.shared_tensors().output("y").data(), sizeof counter);
  EXPECT_EQ(counter + 1, 1U) << "the output was poisoned with all ones, so that one addition leaves 0";
  auto values = values_of(*report);
  EXPECT_EQ(values["sm__sass_inst_executed_op_global_red.sum"] + values["sm__sass_inst_executed_op_global_atom.sum"],
            1);
  EXPECT_EQ(values["smsp__thread_inst_executed_per_inst_executed.ratio"], 1);
}

TEST_F(Counters, SeveralLaunchesAreSeveralRowsInOrder) {
  Bench bench(std::string(kCopy) + "extern \"C\" __global__ void l(copy_args) {}\n", 1024,
              "grid=4 block=256\n// apo:launch l grid=1 block=32");
  const auto report = bench.worker().count({.metrics = {"smsp__inst_executed.sum"}});
  APO_MEASURED_OR_SKIP(report);
  ASSERT_EQ(report->launches.size(), 2U);
  EXPECT_EQ(report->launches[0].kernel, "k");
  EXPECT_EQ(report->launches[1].kernel, "l");
  EXPECT_GT(report->launches[0].values[0], report->launches[1].values[0]);
}

TEST_F(Counters, AnUnknownMetricIsRefusedWithANearOneAndTheRestIsCounted) {
  Bench bench(kCopy, 1024, "grid=4 block=256");
  const auto report = bench.worker().count({.metrics = {"dram__byte_read.sum", kRead}});
  APO_MEASURED_OR_SKIP(report);
  ASSERT_EQ(report->refused.size(), 1U);
  expect_contains(report->refused[0].why, "dram__bytes_read");
  EXPECT_EQ(report->metrics, std::vector<std::string>{kRead});
}

TEST_F(Counters, AFaultUnderTheProfilerIsTheKernelsAndHangsNothing) {
  const std::string faulty =
      "extern \"C\" __global__ void k(copy_args a) { if (threadIdx.x == 9) (a.y + (1LL << 40))[0] = 1; }\n";
  Bench counted(faulty, 1024, "grid=4 block=256");
  const auto report = counted.worker().count({.metrics = {kRead}});
  ASSERT_TRUE(!report || !report->missing.empty());
  if (!report) {
    EXPECT_EQ(report.failure().outcome, Outcome::faulted) << report.failure().evidence;
  }
  Bench sampled(faulty, 1024, "grid=4 block=256");
  const auto samples = sampled.worker().sample_stalls({});
  ASSERT_TRUE(!samples || !samples->missing.empty());
  Bench patched(faulty, 1024, "grid=4 block=256");
  const auto instructions = patched.worker().count_instructions({});
  ASSERT_TRUE(!instructions || !instructions->missing.empty());
  Bench next(kCopy, 1024, "grid=4 block=256");
  EXPECT_TRUE(next.worker().count({.metrics = {kRead}})) << "the next process counts as before";
}

TEST_F(Counters, WithoutCuptiTheReasonIsSaid) {
  setenv("APO_CUPTI_LIBRARY", "/nonexistent", 1);
  Bench bench(kCopy, 1024, "grid=4 block=256");
  unsetenv("APO_CUPTI_LIBRARY");
  const auto report = bench.worker().count({.metrics = {kRead}});
  ASSERT_TRUE(report) << report.failure().evidence;
  expect_contains(report->missing, "CUPTI does not load");
  const auto samples = bench.worker().sample_stalls({});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  expect_contains(samples->missing, "CUPTI does not load");
  const auto instructions = bench.worker().count_instructions({});
  ASSERT_TRUE(instructions) << instructions.failure().evidence;
  expect_contains(instructions->missing, "CUPTI does not load");
}

// Two processes profile at the same time: one waits, and both get their counters.
TEST_F(Counters, ASecondProcessWaitsForTheFirst) {
  Bench first(kBarriers, 1024, "grid=264 block=1024");
  Bench second(kBarriers, 1024, "grid=264 block=1024");
  const auto counted = [](Bench& bench) { return bench.worker().count({.metrics = testing::long_list()}); };
  auto other = std::async(std::launch::async, [&] { return counted(second); });
  const auto one = counted(first);
  const auto two = other.get();
  ASSERT_TRUE(one) << one.failure().evidence;
  ASSERT_TRUE(two) << two.failure().evidence;
  EXPECT_EQ(one->missing, two->missing) << "both or neither may read the counters";
  if (one->missing.empty()) {
    EXPECT_EQ(one->launches.size() + two->launches.size(), 2U);
  }
}

// The lock file alone does not decide: the GPU refuses a second session, and that is waited for as well.
TEST_F(Counters, ABusyGpuIsWaitedForWithoutTheLockFile) {
  Bench first(kBarriers, 1024, "grid=264 block=1024");
  const std::string other_folder = ::testing::TempDir() + "apo-other-tmp";
  std::filesystem::create_directories(other_folder);
  const char* before = std::getenv("TMPDIR");
  const std::string restored = before != nullptr ? before : "";
  setenv("TMPDIR", other_folder.c_str(), 1);  // where the second worker looks for the lock
  Bench second(kBarriers, 1024, "grid=264 block=1024");
  restored.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", restored.c_str(), 1);
  auto other = std::async(std::launch::async, [&] { return second.worker().count({.metrics = testing::long_list()}); });
  const auto one = first.worker().count({.metrics = testing::long_list()});
  const auto two = other.get();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->missing, two->missing) << "both or neither may read the counters";
}

TEST_F(Counters, PcSamplesOfABarrierHeavyKernelAreAtItsBarrier) {
  Bench bench(kBarriers, 1024, "grid=264 block=1024");
  const auto report = bench.worker().sample_stalls({.repetitions = 20});
  APO_MEASURED_OR_SKIP(report);
  std::map<std::string, std::int64_t> stalls;
  std::map<int, std::int64_t> waiting;
  std::map<int, std::int64_t> issuing;
  std::int64_t issued = 0;
  std::int64_t all = 0;
  std::int64_t held_up_elsewhere = 0;
  for (const StallSample& one : report->samples) {
    EXPECT_EQ(one.kernel, "k");
    stalls[one.stall] += one.samples;
    waiting[one.line] += one.stall == "barrier" ? one.samples : 0;
    issuing[one.line] += one.stall == "selected" ? one.samples : 0;
    issued += one.stall == "selected" ? one.samples : 0;
    all += one.samples;
    // The sampler says which barrier: warps stand at an instruction behind it.
    held_up_elsewhere += one.stall == "barrier" && (one.opcode != "BAR" || one.cause_line != 11) ? one.samples : 0;
  }
  for (const auto& [stall, samples] : stalls) {
    std::cout << "  " << stall << " " << samples << "\n";
  }
  std::cout << "  " << report->total << " samples, " << report->dropped << " dropped\n";
  EXPECT_GT(all, 1000);
  EXPECT_LE(all, report->total) << "no sample counts twice";
  EXPECT_GT(stalls["barrier"], all / 2);
  EXPECT_EQ(held_up_elsewhere, 0);
  // A warp that waits stands at the barrier or at the instruction behind it, which belongs to the loop.
  EXPECT_GT(waiting[11] + waiting[9], stalls["barrier"] * 9 / 10);
  EXPECT_GT(issuing[10], issued / 2);
  EXPECT_EQ(report->samples.front().file, "a.cu");
}

// Each of the 264 blocks has 32 warps, which pass 512 barriers.
TEST_F(Counters, InstructionsAreCountedExactly) {
  Bench bench(kBarriers, 1024, "grid=264 block=1024");
  const auto report = bench.worker().count_instructions({});
  APO_MEASURED_OR_SKIP(report);
  std::int64_t warps = 0;
  std::map<int, std::int64_t> barriers;
  std::map<int, std::int64_t> divergent;
  for (const InstructionCount& one : report->instructions) {
    EXPECT_EQ(one.kernel, "k");
    warps += one.pc_offset == 0 ? one.values[kWarps] : 0;
    if (one.opcode == "BAR") {
      barriers[one.line] += one.values[kWarps];
    }
    divergent[one.line] += one.values[kDivergent];
  }
  barriers.erase(0);
  EXPECT_EQ(warps, 264 * 32);
  EXPECT_EQ(barriers, (std::map<int, std::int64_t>{{11, 264 * 32 * 512}}));
  for (const auto& [line, count] : divergent) {
    EXPECT_EQ(count, 0) << "whole warps take one way, also in line " << line;
  }
}

// Prints what each way of counting came to.
void print_attempts(const std::string& what, const InstructionReport& report) {
  std::cout << "  " << what << (report.missing.empty() ? " is counted" : " is not counted: " + report.missing) << "\n";
  for (const std::string& one : report.attempts) {
    std::cout << "    " << one << "\n";
  }
}

// Where one process does not count them all, another one for each does.
TEST_F(Counters, AllKernelsOfACallHaveTheirInstructionsCounted) {
  const std::string three =
      "extern \"C\" __global__ void first(copy_args a) { if (threadIdx.x == 0) a.y[blockIdx.x] = 0; }\n"
      "extern \"C\" __global__ void last(copy_args a) { if (threadIdx.x == 1) a.y[blockIdx.x] = 1; }\n" +
      std::string(kCopy);
  const std::string launches =
      "grid=4 block=256\n// apo:launch first grid=4 block=64\n// apo:launch last grid=2 block=96\n"
      "// apo:launch first grid=1 block=32";
  const auto warps_of = [](const InstructionReport& report) {
    std::map<std::string, std::int64_t> warps;
    for (const InstructionCount& one : report.instructions) {
      warps[one.kernel] += one.pc_offset == 0 ? one.values[kWarps] : 0;
    }
    return warps;
  };
  const std::map<std::string, std::int64_t> launched = {{"k", 4 * 8}, {"first", 4 * 2 + 1}, {"last", 2 * 3}};
  Bench bench(three, 1024, launches);
  const auto whole = bench.worker().count_instructions({});
  ASSERT_TRUE(whole) << whole.failure().evidence;
  if (whole->attempts.empty()) {
    GTEST_SKIP() << whole->missing;
  }
  print_attempts("all kernels in one process", *whole);
  if (whole->missing.empty()) {
    EXPECT_EQ(warps_of(*whole), launched);
  }
  for (const auto& [kernel, warps] : launched) {
    Bench own(three, 1024, launches);
    const auto one = own.worker().count_instructions({.kernel = kernel});
    ASSERT_TRUE(one) << one.failure().evidence;
    print_attempts(kernel + " in a process of its own", *one);
    EXPECT_EQ(warps_of(*one), (std::map<std::string, std::int64_t>{{kernel, warps}}));
  }
}

TEST_F(Counters, ABankConflictIsCountedOnItsLine) {
  Bench bench(kBankConflicts, 1024, "grid=64 block=256");
  const auto report = bench.worker().count_instructions({});
  APO_MEASURED_OR_SKIP(report);
  std::map<int, std::int64_t> excess;
  for (const InstructionCount& one : report->instructions) {
    excess[one.line] += one.values[kSharedWavefronts] - one.values[kSharedIdeal];
  }
  // The seventh line of the code is the thirteenth of the file. 31 repeats of each load of 64 blocks of 8 warps.
  EXPECT_EQ(excess[13], std::int64_t{64} * 8 * 256 * 31);
}

TEST_F(Counters, AProfiledWorkerStillRunsItsKernel) {
  Bench bench(kCopy, 1024, "grid=4 block=256");
  const auto count = [&] { return bench.worker().count({.metrics = {kRead}}); };
  const auto counted = count();
  ASSERT_TRUE(counted);
  ASSERT_TRUE(bench.worker().sample_stalls({}));
  ASSERT_TRUE(count());
  ASSERT_TRUE(bench.worker().count_instructions({}));
  ASSERT_TRUE(count());
  const auto sample = bench.worker().call(0);
  ASSERT_TRUE(sample) << sample.failure().evidence;
  EXPECT_GT(sample->device_ns, 0);
  const auto last = count();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->missing, counted->missing);
  EXPECT_EQ(last->launches.size(), counted->launches.size());
}

}  // namespace
}  // namespace apo
