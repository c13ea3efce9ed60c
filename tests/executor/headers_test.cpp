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

TEST(ExecutorHeaders, BarriersOnTheSameLineOfTwoFilesAreTwoBarriers) {
  const CheckResult result = check(kernel("if (threadIdx.x < 64) wait(); else wait_here();"));
  EXPECT_EQ(result.outcome, Outcome::incorrect);
  EXPECT_NE(result.evidence.find("barrier divergence"), std::string::npos) << result.evidence;
  EXPECT_NE(result.evidence.find("waits.cuh:6"), std::string::npos) << result.evidence;
  EXPECT_NE(result.evidence.find("headed.cu:6"), std::string::npos) << result.evidence;
}

// `includes` stand before the kernel, whose statement sees `value`, an element of x.
std::string claims(const std::string& includes, const std::string& statement) {
  return includes + kernel("const float value = i < a.n ? a.x[i] : 0; if (!(" + statement + ")) __trap();");
}

TEST(ExecutorHeaders, GiveKernelsWhatTheyHaveOnAGpu) {
  const std::pair<const char*, std::string> kernels[] = {
      {"a header of the variant", kernel("wait_here();")},
      {"names of CUDA without a header",
       claims("", "INFINITY > value && NAN != NAN && sizeof(int64_t) == 8 && uint32_t(-1) == 0xffffffffu")},
      {"a function that is not inlined", "__device__ __noinline__ float twice(float x) { return 2 * x; }\n" +
                                             kernel("if (i < a.n && twice(a.x[i]) != a.x[i] + a.x[i]) __trap();")},
      {"standard headers",
       claims("#include <cmath>\n#include <algorithm>\n#include <cstdint>\n#include <math_constants.h>\n#include "
              "<limits>\n",
              "std::max(value, 2.0f) >= 2 && std::exp(0.0f) == 1 && std::isfinite(value) && M_PI > 3 &&"
              " CUDART_INF_F > value && std::int64_t{3} == 3 && std::numeric_limits<float>::max() > value &&"
              " sqrtf(4.0f) == 2")},
      {"libcu++", claims("#include <cuda/std/limits>\n#include <cuda/std/type_traits>\n#include <cuda/std/cmath>\n"
                         "#include <cuda/std/cstdint>\n#include <cuda/std/utility>\n#include <cuda/std/array>\n",
                         "cuda::std::numeric_limits<float>::infinity() > value &&"
                         " cuda::std::is_same_v<float, decltype(a.x[0] + 0)> && cuda::std::fabs(-1.0f) == 1 &&"
                         " cuda::std::int32_t{3} == 3 && cuda::std::array<int, 2>{1, 2}[1] == 2")},
      {"cooperative groups of a block",
       claims("#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = "
              "cooperative_groups;\n",
              "[&] { const auto block = cg::this_thread_block(); const auto tile = cg::tiled_partition<8>(block);"
              " block.sync(); const int rank = static_cast<int>(tile.thread_rank());"
              " const int sum = cg::reduce(tile, rank, cg::plus<int>()); tile.sync();"
              " return sum == 28 && tile.shfl(rank, 3) == 3 && tile.ballot(1) == 0xff && block.size() == 128 &&"
              " block.thread_rank() == threadIdx.x && tile.meta_group_size() == 16; }()")},
      {"tiles as variables, parameters and of scans",
       claims(
           "#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\nnamespace cg = "
           "cooperative_groups;\n__device__ int total(cg::thread_block_tile<32>& warp, int one) {\n"
           "  return cg::reduce(warp, one, cg::greater<int>{}) + cg::exclusive_scan(warp, one, cg::plus<int>{});\n}\n",
           "[&] { cg::thread_block block = cg::this_thread_block();"
           " cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);"
           " return total(warp, 2) == static_cast<int>(2 + 2 * warp.thread_rank()) &&"
           " cg::inclusive_scan(warp, 1) == static_cast<int>(warp.thread_rank()) + 1; }()")}};
  for (const auto& [what, code] : kernels) {
    const CheckResult result = check(code);
    EXPECT_EQ(result.outcome, Outcome::valid) << what << ": " << result.evidence;
  }
}

TEST(ExecutorHeaders, WhatHasNoEquivalentIsNotCheckedAndNeverValid) {
  const std::string groups = "#include <cooperative_groups.h>\n";
  for (const std::string& code : {groups + kernel("cooperative_groups::this_cluster().sync();"),
                                  groups + kernel("cooperative_groups::coalesced_threads().sync();"),
                                  kernel("asm volatile(\"wgmma.fence.sync.aligned;\");")}) {
    const CheckResult result = check(code);
    EXPECT_EQ(result.outcome, Outcome::not_checkable) << code;
    EXPECT_NE(result.evidence.find("not checkable on the CPU"), std::string::npos) << result.evidence;
  }
}

}  // namespace
}  // namespace apo::testing
