// tests/executor/headers_test.cpp - kernels whose code lies partly in headers.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "tests/executor/cpu_runtime_fixture.h"

namespace apo::testing {
namespace {

constexpr const char* kBlock =
    "// apo:variant    copy/headed\n// apo:target     cuda sm_80\n// apo:technique  test\n"
    "// apo:idea       A part lies in a header.\n// apo:launch     kernel grid=ceil_div(n,128) block=128\n";

// Line 6 of both files waits at a barrier.
constexpr const char* kHeader = "#pragma once\n\n\n\ninline __device__ void wait_here() {\n  __syncthreads();\n}\n";
constexpr const char* kWaits =
    "inline __device__ void wait() { __syncthreads(); }\n#include \"copy.args.h\"\n"
    "#include \"waits.cuh\"\n";

CheckResult check(const std::string& code) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "headed.cu", std::string(kBlock) + kWaits + code);
  write_file_atomically(folder.path() / "waits.cuh", kHeader);
  const CpuRuntime cpu("copy", folder.path().string(), std::chrono::seconds{30});
  const CheckCase one{.workload = "n1001", .axes = {{"n", 1001}}, .regimes = {"typical"}};
  return check_case(cpu.runtime(), {.variant = "copy/headed", .settings = {}}, one, 1, false);
}

std::string kernel(const std::string& statement) {
  return "extern \"C\" __global__ void kernel(const copy_args a) {\n"
         "  const long long i = 128LL * blockIdx.x + threadIdx.x;\n  " +
         statement + "\n  if (i < a.n) a.y[i] = a.x[i];\n}\n";
}

TEST(ExecutorHeaders, AreBuiltWithTheVariant) {
  const CheckResult result = check(kernel("wait_here();"));
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, BarriersOnTheSameLineOfTwoFilesAreTwoBarriers) {
  const CheckResult result = check(kernel("if (threadIdx.x < 64) wait(); else wait_here();"));
  EXPECT_EQ(result.outcome, Outcome::incorrect);
  EXPECT_NE(result.evidence.find("barrier divergence"), std::string::npos) << result.evidence;
  EXPECT_NE(result.evidence.find("waits.cuh:6"), std::string::npos) << result.evidence;
  EXPECT_NE(result.evidence.find("headed.cu:6"), std::string::npos) << result.evidence;
}

}  // namespace
}  // namespace apo::testing
