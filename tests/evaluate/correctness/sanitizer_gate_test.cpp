// tests/evaluate/correctness/sanitizer_gate_test.cpp - the gate with a script in the place of compute-sanitizer, and no
// GPU.
#include "harness/evaluate/correctness/sanitizer_gate.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/correctness.h"
#include "tests/evaluate/runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using testing::CopyRuntime;

constexpr const char* kClean = R"sh(
[ "$tool" = racecheck ] && summary="RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ||
  summary="ERROR SUMMARY: 0 errors"
echo "========= $summary" >"$log"
)sh";

// A program that takes the options of compute-sanitizer, runs what follows them as a process of its own, and then does
// what `after` says. The watched worker is one for target host: what is tested is everything round it.
class SanitizerGate : public ::testing::Test {
 protected:
  void write_tool(const std::string& after, const std::string& start = "\"$@\"") {
    const fs::path script = folder_.path() / "compute-sanitizer";
    write_file_atomically(script, std::string("#!/bin/sh\nwhile :; do case $1 in\n") +
                                      "--tool) tool=$2; shift 2;;\n--log-file) log=$2; shift 2;;\n--kill) shift;;\n" +
                                      "--*) shift 2;;\n*) break;;\nesac; done\n" + start + "\n" + after);
    fs::permissions(script, fs::perms::owner_all);
    runtime_.compute_sanitizer = script.string();
  }
  GateResult run(const std::string& variant = "copy/once") {
    return SanitizerTools(runtime_, 5)
        .run({variant, {}}, {.workload = "n1001",
                             .axes = find_workload(copy_.family(), "n1001")->axes,
                             .regimes = copy_.family().regimes});
  }
  std::string error_of_run() {
    try {
      run();
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "";
  }

  CopyRuntime copy_;
  Runtime runtime_ = [this] {
    Runtime runtime = copy_.runtime();
    runtime.build = [built = runtime.build](const Configuration& configuration, const Axes& axes, bool) {
      return built(configuration, axes, false);  // the tools of a GPU watch the build that is timed
    };
    return runtime;
  }();
  TemporaryFolder folder_;
};

TEST_F(SanitizerGate, PassesWhenEveryToolReportsNothing) {
  write_tool(kClean);
  const GateResult gate = run();
  EXPECT_EQ(gate.outcome, Outcome::valid) << gate.evidence;
  EXPECT_EQ(gate.evidence, "memcheck, racecheck of compute-sanitizer found nothing in 3 calls on n1001");
  EXPECT_GT(gate.seconds, 0);
}

TEST_F(SanitizerGate, AFindingOfOneToolMakesTheCandidateIncorrect) {
  write_tool(std::string(kClean) +
             "[ $tool = memcheck ] && printf '========= Invalid __global__ read of size 4 bytes\\n=========     at "
             "k+0x90 in variant.cu:12\\n=========     by thread (9,0,0) in block (3,0,0)\\n========= ERROR SUMMARY: 2 "
             "errors\\n' >$log\ntrue\n");
  const GateResult gate = run();
  EXPECT_EQ(gate.outcome, Outcome::incorrect);
  EXPECT_EQ(
      gate.evidence,
      "memcheck: Invalid __global__ read of size 4 bytes at k in variant.cu:12 by thread (9,0,0) in block (3,0,0) "
      "(2 errors)");
}

TEST_F(SanitizerGate, ALogWithoutSummaryIsTheEnvironmentsErrorAndNeverAPass) {
  write_tool("echo '========= COMPUTE-SANITIZER' >$log\n");
  const std::string error = error_of_run();
  expect_contains(error, "--tool memcheck did not report: its log has no summary");
  write_tool("");
  EXPECT_NE(error_of_run(), "") << "no log at all";
}

TEST_F(SanitizerGate, AToolThatCannotStartTheWorkerSaysWhy) {
  write_tool("echo '========= Error: this GPU is not supported' >$log\nexit 1\n", "");
  const std::string error = error_of_run();
  expect_contains(error, "Error: this GPU is not supported");
  expect_contains(error, "cannot watch a worker");
}

TEST_F(SanitizerGate, ACandidateThatFailsUnderACleanToolIsNotPassed) {
  write_tool(kClean);
  const GateResult gate = run("copy/abort");
  EXPECT_EQ(gate.outcome, Outcome::faulted);
  expect_contains(gate.evidence, "under memcheck, which found nothing");
}

TEST_F(SanitizerGate, WithoutTheToolTheGateSaysThatItDidNotRun) {
  runtime_.worker.target = Target::cuda;
  const GateResult gate = sanitizer_gate(runtime_, {"copy/once", {}}, correctness_plan(copy_.family(), {"n4k"}, 1), 1);
  EXPECT_EQ(gate.outcome, Outcome::valid);
  expect_contains(gate.evidence, "not run: compute-sanitizer is not installed");
}

}  // namespace
}  // namespace apo
