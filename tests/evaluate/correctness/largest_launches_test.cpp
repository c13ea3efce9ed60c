// tests/evaluate/correctness/largest_launches_test.cpp - grids at the largest sizes, without a build.
#include "harness/evaluate/correctness/largest_launches.h"

#include <gtest/gtest.h>

#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/settings.h"
#include "tests/text.h"

namespace apo {
namespace {

const Family& planes() {
  static const Family kPlanes = [] {
    Family family{.name = "planes",
                  .axes = {{.name = "P", .min = 1, .max = 200000}, {.name = "n", .min = 1, .max = 4096}},
                  .tensors = {{.name = "x",
                               .dtype = DType::f32,
                               .shape =
                                   [](const Axes& axes) {
                                     return std::vector<std::int64_t>{axes.at("P"), axes.at("n")};
                                   }}},
                  .workloads = {{.name = "small", .axes = {{"P", 2}, {"n", 8}}}},
                  .legal = "1"};
    family.invalid = [](const Axes&) { return std::string(); };
    return family;
  }();
  return kPlanes;
}

Runtime runtime_of(const std::string& grid, const std::string& needs = "") {
  const Variant variant{.family = "planes",
                        .name = "v",
                        .target = Target::cuda,
                        .requires_expression = needs,
                        .launches = {{.kernel = "k", .attributes = {{"grid", grid}, {"block", "64"}}}}};
  const Symbols device = {{"SMS", 132}, {"SHARED_MAX", 232448}, {"MAX_THREADS", 1024}};
  Runtime runtime;
  runtime.family = &planes();
  runtime.grids = [=](const Configuration&, const Axes& axes) { return grids_of_call(variant, axes, {}, device); };
  runtime.unsupported = [=](const Configuration&, const Axes& axes) {
    std::string why;
    return supports(variant, planes(), axes, {}, &why, device) ? "" : why;
  };
  return runtime;
}

std::string refusal(const std::string& grid, const std::string& needs = "") {
  const auto failure = check_largest_launches(runtime_of(grid, needs), {});
  return failure ? failure->evidence : "";
}

TEST(LargestLaunches, AGridThatNoGpuTakesIsRefusedWithTheLineToWrite) {
  const std::string why = refusal("ceil_div(n,64),1,P");
  expect_contains(why, "has 200000 blocks in z, where a GPU takes up to 65535");
  expect_contains(why, "write the line 'apo:requires P <= 65535'");
}

TEST(LargestLaunches, OfTwoAxesTogetherAreSeen) {
  expect_contains(refusal("1,P*n", "P <= 65535"), "apo:requires P*n <= 65535");
  EXPECT_EQ(refusal("1,ceil_div(P*n,65536)"), "");
}

TEST(LargestLaunches, ThatTheAuthorRuledOutAreNoneOfItsOwn) {
  EXPECT_EQ(refusal("ceil_div(n,64),1,P", "P <= 65535"), "");
  EXPECT_EQ(refusal("ceil_div(n,64),1,min(P,65535)"), "");
  EXPECT_EQ(refusal("P*ceil_div(n,64)"), "");
  expect_contains(refusal("ceil_div(n,64),1,P", "P <= 70000"), "has 70000 blocks in z");
}

TEST(ClippedGrids, AreFoundWithAShapeBeyondTheEdge) {
  const std::vector<ClippedGrid> clipped =
      clipped_grids(runtime_of("ceil_div(n,64),1,min(P,4096)"), {}, std::int64_t{1} << 19, 7);
  ASSERT_EQ(clipped.size(), 1U);
  EXPECT_EQ(clipped[0].axis, "P");
  EXPECT_EQ(clipped[0].value, 4096);
  ASSERT_TRUE(clipped[0].shape);
  EXPECT_GT(clipped[0].shape->at("P"), 4096);
  EXPECT_LT(clipped[0].shape->at("P"), 4700);
  EXPECT_FALSE(clipped_grids(runtime_of("ceil_div(n,64),1,min(P,4096)"), {}, 4000, 7)[0].shape) << "too large to check";
}

TEST(ClippedGrids, HaveOtherAxesAsSmallAsTheConfigurationTakes) {
  const auto clipped = clipped_grids(runtime_of("min(ceil_div(P,4),SMS)", "n % 4 == 0"), {}, 3000, 7);
  ASSERT_EQ(clipped.size(), 1U);
  ASSERT_TRUE(clipped[0].shape);
  EXPECT_GT(clipped[0].shape->at("P"), 4 * 132);
  EXPECT_EQ(clipped[0].shape->at("n"), 4);
}

TEST(ClippedGrids, OfManyElementsABlockEndBehindAWholeBlockMore) {
  const auto clipped = clipped_grids(runtime_of("min(ceil_div(P*n,256),SMS)"), {}, std::int64_t{1} << 19, 7);
  ASSERT_EQ(clipped.size(), 1U) << "n alone has too few blocks";
  EXPECT_GT(clipped[0].shape->at("P"), 132 * 256);
}

TEST(ClippedGrids, AreNotThoseThatGrowToTheEnd) {
  EXPECT_TRUE(clipped_grids(runtime_of("ceil_div(n,64),1,P"), {}, 1 << 19, 7).empty());
  EXPECT_TRUE(clipped_grids(runtime_of("132"), {}, 1 << 19, 7).empty());
}

}  // namespace
}  // namespace apo
