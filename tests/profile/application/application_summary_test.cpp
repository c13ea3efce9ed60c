// tests/profile/application/application_summary_test.cpp - processes become one table, divided by categories.
#include "harness/profile/application/application_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "harness/core/error.h"
#include "tests/text.h"

namespace apo {
namespace {

GpuWork kernel(const std::string& name, std::int64_t calls, std::int64_t total) {
  return {.name = name, .calls = calls, .total_ns = total, .min_ns = total / calls, .max_ns = total / calls};
}

ApplicationProfile two_processes() {
  ApplicationProfile profile;
  profile.processes = {
      {.work =
           {kernel("_Z5scalePf", 4, 400),
            kernel("ampere_sgemm_128x64_tn", 1, 500),
            {.kind = WorkKind::copy, .name = "memcpy HtoD", .calls = 1, .total_ns = 50, .min_ns = 50, .max_ns = 50}}},
      {.work = {{.name = "_Z5scalePf", .calls = 2, .total_ns = 30, .min_ns = 10, .max_ns = 20},
                kernel("unheard_of", 1, 20)}}};
  GpuTimeline timeline;
  timeline.add(0, 600);
  timeline.add(1'600, 2'000);
  profile.processes[0].devices = {timeline.busy()};
  return profile;
}

std::string mistake(const std::string& text) {
  return error_of([&] { Categories::from_json(text, "rules.json"); });
}

TEST(Application, TheSameKernelOfAllProcessesIsOneRow) {
  const ApplicationSummary summary = summarise(two_processes(), Categories::for_pytorch());
  EXPECT_EQ(summary.total_ns, 1'000);
  ASSERT_EQ(summary.work.size(), 4U);
  EXPECT_EQ(summary.work[0].work.name, "ampere_sgemm_128x64_tn") << "by time";
  const GpuWork& scale = summary.work[1].work;
  EXPECT_EQ(scale.name, "scale(float*)");
  EXPECT_EQ(scale.calls, 6);
  EXPECT_EQ(scale.total_ns, 430);
  EXPECT_EQ(scale.min_ns, 10);
  EXPECT_EQ(scale.max_ns, 100);
  EXPECT_DOUBLE_EQ(summary.work[1].share, 0.43);
}

// Two processes push "step" and, in it, "forward".
TEST(Application, RangesOfAllProcessesAreOneTreeByTime) {
  ApplicationProfile profile = two_processes();
  profile.processes[0].ranges = {
      {.name = "step", .entered = 2, .work = {{.work = 2, .calls = 1, .total_ns = 50}}},
      {.name = "forward", .parent = 0, .entered = 2, .work = {{.work = 0, .calls = 4, .total_ns = 400}}},
      {.name = "backward", .parent = 0, .entered = 1, .work = {{.work = 1, .calls = 1, .total_ns = 500}}}};
  profile.processes[1].ranges = {
      {.name = "step", .entered = 1},
      {.name = "forward", .parent = 0, .entered = 1, .work = {{.work = 0, .calls = 2, .total_ns = 30}}}};
  const auto ranges = summarise(profile, Categories::for_pytorch()).ranges;
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].path, "step");
  EXPECT_EQ(ranges[0].entered, 3);
  EXPECT_EQ(ranges[0].calls, 8);
  EXPECT_EQ(ranges[0].total_ns, 980);
  EXPECT_EQ(ranges[0].own_ns, 50);
  EXPECT_DOUBLE_EQ(ranges[0].share, 0.98);
  EXPECT_EQ(ranges[1].path, "step / backward") << "by time";
  EXPECT_EQ(ranges[1].depth, 1);
  EXPECT_EQ(ranges[2].path, "step / forward");
  EXPECT_EQ(ranges[2].total_ns, 430);
  std::int64_t in_categories = 0;
  for (const CategoryRow& category : ranges[0].categories) {
    in_categories += category.total_ns;
  }
  EXPECT_EQ(in_categories, ranges[0].total_ns) << "they divide the range, too";
}

TEST(Application, CeilingIsAmdahlsBoundForWorkThatTookNoTime) {
  const ApplicationSummary summary = summarise(two_processes(), Categories::for_pytorch());
  EXPECT_DOUBLE_EQ(summary.work[0].ceiling, 2.0);
  for (const WorkRow& row : summary.work) {
    EXPECT_NEAR(row.ceiling, 1 / (1 - row.share), 1e-12);
  }
  ApplicationProfile one;
  one.processes = {{.work = {kernel("k", 1, 10)}}};
  EXPECT_TRUE(std::isinf(summarise(one, Categories::for_pytorch()).work[0].ceiling));
}

TEST(Application, CategoriesAddUpToTheTotalExactly) {
  for (const Categories& categories :
       {Categories::for_pytorch(), Categories::from_json(R"({"categories": []})", "x"),
        Categories::from_json(R"({"categories": [{"name": "a", "pattern": "s"}, {"name": "b", "pattern": "."}]})",
                              "x")}) {
    const ApplicationSummary summary = summarise(two_processes(), categories);
    std::int64_t sum = 0;
    std::int64_t calls = 0;
    double shares = 0;
    for (const CategoryRow& row : summary.categories) {
      sum += row.total_ns;
      calls += row.calls;
      shares += row.share;
    }
    EXPECT_EQ(sum, summary.total_ns);
    EXPECT_EQ(calls, 9);
    EXPECT_NEAR(shares, 1, 1e-12);
  }
}

TEST(Application, TheFirstRuleThatMatchesWinsAndOtherTakesTheRest) {
  const Categories categories = Categories::from_json(
      R"({"categories": [{"name": "one", "pattern": "SCALE"}, {"name": "two", "pattern": "scale|gemm"}]})", "x");
  EXPECT_EQ(categories.of("scale(float*)"), "one") << "ignoring case";
  EXPECT_EQ(categories.of("sgemm"), "two");
  EXPECT_EQ(categories.of("memset"), "other");
}

TEST(Application, PyTorchsKernelsFallWhereAPersonWouldPutThem) {
  const Categories categories = Categories::for_pytorch();
  const std::pair<const char*, const char*> cases[] = {
      {"ampere_sgemm_128x64_tn", "GEMM"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64", "GEMM"},
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", "GEMM"},
      {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm>", "GEMM"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "elementwise"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"},
      {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>", "copies"},
      {"memcpy HtoD", "copies"},
      {"memset", "copies"},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>, cutlass::bfloat16_t>", "attention"},
      {"void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor>", "optimizer"},
      {"e88_backward_register_owned", "E88"},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "communication"},
      {"my_kernel", "other"}};
  for (const auto& [name, category] : cases) {
    EXPECT_EQ(categories.of(name), category) << name;
  }
}

TEST(Application, MistakesInACategoriesFileAreNamed) {
  expect_contains(mistake("{"), "'rules.json' is not JSON");
  expect_contains(mistake("[]"), "no list \"categories\"");
  expect_contains(mistake(R"({"categories": [{"name": "a"}]})"), "category 1 has no text \"pattern\"");
  expect_contains(mistake(R"({"categories": [{"name": "", "pattern": "x"}]})"), "no text \"name\"");
  expect_contains(mistake(R"({"categories": [{"name": "a", "pattern": "("}]})"), "'(' is no regular expression");
}

TEST(Application, ANameOfMegabytesNeitherCrashesNorHangs) {
  const std::string name = "_Z" + std::string(3'000'000, 'x');
  EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(Categories::from_json(R"({"categories": [{"name": "a", "pattern": ".*y"}]})", "x").of(name), "other");
}

TEST(Application, ShareCountsIdleTimeAgainstTheKernels) {
  const ApplicationSummary summary = summarise(two_processes(), Categories::for_pytorch());
  EXPECT_EQ(summary.span_ns, 2'000);
  EXPECT_DOUBLE_EQ(summary.idle_share(), 0.5);
  EXPECT_DOUBLE_EQ(share_of(summary, NamePattern("scale|gemm")), 0.465) << "930 ns of 2000, not of 1000";
  EXPECT_DOUBLE_EQ(share_of(summary, NamePattern("nothing")), 0);
}

TEST(Application, WithoutWorkIsEmptyAndDividesNothing) {
  const ApplicationSummary summary = summarise({}, Categories::for_pytorch());
  EXPECT_EQ(summary.total_ns, 0);
  EXPECT_TRUE(summary.work.empty());
  EXPECT_TRUE(std::isnan(summary.idle_share()));
  EXPECT_EQ(share_of(summary, NamePattern("x")), 0);
}

}  // namespace
}  // namespace apo
