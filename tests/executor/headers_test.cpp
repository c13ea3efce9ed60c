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

// `includes` stand before the kernel, whose statement sees `value`, an element of x.
CheckResult check_with(const std::string& includes, const std::string& statement) {
  return check(includes + kernel("const float value = i < a.n ? a.x[i] : 0; if (!(" + statement + ")) __trap();"));
}

TEST(ExecutorHeaders, NamesOfCudaNeedNoHeader) {
  const CheckResult result =
      check_with("", "INFINITY > value && NAN != NAN && sizeof(int64_t) == 8 && uint32_t(-1) == 0xffffffffu");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, FunctionsMayBeKeptFromInlining) {
  const CheckResult result = check("__device__ __noinline__ float twice(float x) { return 2 * x; }\n" +
                                   kernel("if (i < a.n && twice(a.x[i]) != a.x[i] + a.x[i]) __trap();"));
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, StandardHeadersAreTheDevicesOwn) {
  const CheckResult result = check_with(
      "#include <cmath>\n#include <algorithm>\n#include <cstdint>\n#include <math_constants.h>\n#include <limits>\n",
      "std::max(value, 2.0f) >= 2 && std::exp(0.0f) == 1 && std::isfinite(value) && M_PI > 3 && CUDART_INF_F > value &&"
      " std::int64_t{3} == 3 && std::numeric_limits<float>::max() > value && sqrtf(4.0f) == 2");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, LibcuxxIsTheHostsLibrary) {
  const CheckResult result = check_with(
      "#include <cuda/std/limits>\n#include <cuda/std/type_traits>\n#include <cuda/std/cmath>\n"
      "#include <cuda/std/cstdint>\n#include <cuda/std/utility>\n#include <cuda/std/array>\n",
      "cuda::std::numeric_limits<float>::infinity() > value && cuda::std::is_same_v<float, decltype(a.x[0] + 0)> &&"
      " cuda::std::fabs(-1.0f) == 1 && cuda::std::int32_t{3} == 3 && cuda::std::array<int, 2>{1, 2}[1] == 2");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, CooperativeGroupsOfABlockRun) {
  const CheckResult result = check_with(
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n",
      "[&] { const auto block = cg::this_thread_block(); const auto tile = cg::tiled_partition<8>(block); block.sync();"
      " const int sum = cg::reduce(tile, static_cast<int>(tile.thread_rank()), cg::plus<int>()); tile.sync();"
      " return sum == 28 && tile.shfl(static_cast<int>(tile.thread_rank()), 3) == 3 && tile.ballot(1) == 0xff &&"
      " block.size() == 128 && block.thread_rank() == threadIdx.x && tile.meta_group_size() == 16; }()");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST(ExecutorHeaders, WhatHasNoEquivalentIsNotCheckedAndNeverValid) {
  for (const char* code :
       {"cooperative_groups::this_grid().sync();", "cooperative_groups::coalesced_threads().sync();"}) {
    const CheckResult result = check("#include <cooperative_groups.h>\n" + kernel(code));
    EXPECT_EQ(result.outcome, Outcome::not_checkable) << code;
    EXPECT_NE(result.evidence.find("not checkable on the CPU"), std::string::npos) << result.evidence;
  }
  const CheckResult ptx = check(kernel("asm volatile(\"wgmma.fence.sync.aligned;\");"));
  EXPECT_EQ(ptx.outcome, Outcome::not_checkable);
  EXPECT_NE(ptx.evidence.find("not checkable on the CPU"), std::string::npos) << ptx.evidence;
}

}  // namespace
}  // namespace apo::testing
