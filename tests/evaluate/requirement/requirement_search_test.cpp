// tests/evaluate/requirement/requirement_search_test.cpp - which conditions are found for kernels that are wrong on
// some sizes.
#include "harness/evaluate/requirement/requirement_search.h"

#include <gtest/gtest.h>

#include <functional>

#include "harness/core/expression/expression.h"
#include "kernels/random.h"

namespace apo {
namespace {

// One tensor of all axes, as a transformer has it.
Family family_with(std::string legal) {
  Family family{
      .name = "shaped",
      .axes = {{.name = "B", .min = 1, .max = 64},
               {.name = "T", .min = 1, .max = 4096},
               {.name = "C", .min = 1, .max = 65536}},
      .tensors = {{.name = "x",
                   .dtype = DType::f32,
                   .shape =
                       [](const Axes& axes) {
                         return std::vector<std::int64_t>{axes.at("B"), axes.at("T"), axes.at("C")};
                       }}},
      .workloads = {{.name = "large", .axes = {{"B", 8}, {"T", 1024}, {"C", 768}}, .kind = WorkloadKind::production},
                    {.name = "small", .axes = {{"B", 3}, {"T", 5}, {"C", 24}}}},
      .legal = legal};
  family.invalid = [legal](const Axes& axes) { return std::string(evaluate(legal, axes) != 0 ? "" : "not legal"); };
  family.unit_count = [](const Axes& axes) { return axes.at("T"); };
  family.work = [](const Axes& axes) {
    return Work{.flops = static_cast<double>(axes.at("B") * axes.at("T") * axes.at("C"))};
  };
  return family;
}

std::string found(const std::string& right_where, const Axes& failing, const std::string& legal = "1",
                  std::int64_t batch = 8) {
  Family family = family_with(legal);
  family.workloads.front().axes.at("B") = batch;
  const std::optional<Requirement> requirement =
      find_requirement({.family = family,
                        .production = family.workloads.front().axes,
                        .failing = failing,
                        .budget = {.elements = 1 << 16, .operations = 0x1p22},
                        .most_elements = 1 << 19,
                        .takes = [](const Axes&) { return true; },
                        .is_right = [&](const Axes& axes) { return evaluate(right_where, axes) != 0; },
                        .seed = 7});
  if (!requirement) {
    return "";
  }
  EXPECT_GE(requirement->right, 5);
  EXPECT_GE(requirement->wrong_elsewhere, 1);
  EXPECT_LE(requirement->wrong_elsewhere, requirement->others);
  return requirement->condition;
}

TEST(RequirementSearch, FindsStepsEndsAndProductsThatAKernelNeeds) {
  const struct {
    const char* right_where;
    Axes failing;
    const char* condition;
  } cases[] = {{"C % 4 == 0", {{"B", 3}, {"T", 5}, {"C", 7}}, "C % 4 == 0"},
               {"C % 128 == 0", {{"B", 3}, {"T", 5}, {"C", 24}}, "C % 128 == 0"},
               {"C % 6 == 0", {{"B", 3}, {"T", 5}, {"C", 7}}, "C % 6 == 0"},
               {"T >= 32", {{"B", 1}, {"T", 1}, {"C", 64}}, "T >= 32"},
               {"C <= 1024", {{"B", 1}, {"T", 2}, {"C", 4095}}, "C <= 1024"},
               {"C % 4 == 0 && C <= 1024", {{"B", 1}, {"T", 2}, {"C", 4095}}, "C % 4 == 0 && C <= 1024"},
               {"T % 2 == 0 && C % 16 == 0", {{"B", 1}, {"T", 1}, {"C", 1}}, "T % 2 == 0 && C % 16 == 0"},
               {"B * T % 4 == 0", {{"B", 3}, {"T", 5}, {"C", 24}}, "B * T % 4 == 0"},
               {"B * T % 4 == 0", {{"B", 3}, {"T", 6}, {"C", 24}}, "B * T % 4 == 0"},
               {"B * T * C % 8 == 0", {{"B", 3}, {"T", 5}, {"C", 7}}, "B * T * C % 8 == 0"}};
  for (const auto& one : cases) {
    EXPECT_EQ(found(one.right_where, one.failing), one.condition);
  }
}

TEST(RequirementSearch, FindsRelationsBetweenAxes) {
  const Axes failing = {{"B", 3}, {"T", 5}, {"C", 7}};
  for (const char* relation : {"C == 96 * B", "T == 128 * B", "C % B == 0", "T >= C"}) {
    EXPECT_EQ(found(relation, failing), relation);
  }
}

TEST(RequirementSearch, FindsThatOnlyTheFirstValueOfAnAxisIsRight) {
  EXPECT_EQ(found("B == 1", {{"B", 3}, {"T", 5}, {"C", 24}}, "1", 1), "B <= 1");
}

TEST(RequirementSearch, FindsNothingForAKernelThatIsWrongOnTheProductionSizes) {
  const Axes failing = {{"B", 3}, {"T", 5}, {"C", 7}};
  EXPECT_EQ(found("0", failing), "");
  EXPECT_EQ(found("C % 512 == 0", failing), "") << "768 is no multiple";
  EXPECT_EQ(found("C <= 512", {{"B", 1}, {"T", 2}, {"C", 4095}}), "");
}

TEST(RequirementSearch, FindsTheTilesOfAMatrixProductOnFewElements) {
  Family family = family_with("1");
  family.workloads = {
      {.name = "large", .axes = {{"B", 2048}, {"T", 2048}, {"C", 2048}}, .kind = WorkloadKind::production},
      {.name = "small", .axes = {{"B", 3}, {"T", 5}, {"C", 24}}}};
  for (AxisSpec& axis : family.axes) {
    axis.max = 65536;
  }
  const auto matrix = [](const char* rows, const char* cols) {
    return TensorSpec{.name = rows, .dtype = DType::f32, .shape = [=](const Axes& axes) {
                        return std::vector<std::int64_t>{axes.at(rows), axes.at(cols)};
                      }};
  };
  family.tensors = {matrix("B", "C"), matrix("C", "T"), matrix("T", "B")};
  const auto requirement = find_requirement(
      {.family = family,
       .production = family.workloads.front().axes,
       .failing = {{"B", 33}, {"T", 17}, {"C", 9}},
       .budget = {.elements = 1 << 15, .operations = 0x1p22},
       .most_elements = 1 << 16,
       .takes = [](const Axes&) { return true; },
       .is_right = [](const Axes& a) { return a.at("B") % 128 == 0 && a.at("T") % 128 == 0 && a.at("C") % 16 == 0; },
       .seed = 7});
  ASSERT_TRUE(requirement);
  EXPECT_EQ(requirement->condition, "B % 128 == 0 && T % 128 == 0 && C % 16 == 0");
}

TEST(RequirementSearch, FindsNothingWhereSizesDoNotDecide) {
  int calls = 0;
  Random random(3);
  const Family family = family_with("1");
  EXPECT_FALSE(find_requirement({.family = family,
                                 .production = family.workloads.front().axes,
                                 .failing = {{"B", 3}, {"T", 5}, {"C", 7}},
                                 .budget = {.elements = 1 << 16, .operations = 0x1p22},
                                 .most_elements = 1 << 19,
                                 .takes = [](const Axes&) { return true; },
                                 .is_right = [&](const Axes&) { return ++calls > 0 && random.below(3) != 0; },
                                 .seed = 7}));
  EXPECT_LE(calls, 68);
}

TEST(RequirementSearch, StepsOfTheContractAreNoneOfTheKernel) {
  EXPECT_EQ(found("C <= 2048", {{"B", 1}, {"T", 1}, {"C", 8192}}, "C % 8 == 0"), "C <= 2048");
  EXPECT_EQ(found("C % 32 == 0", {{"B", 1}, {"T", 1}, {"C", 24}}, "C % 8 == 0"), "C % 32 == 0");
}

}  // namespace
}  // namespace apo
