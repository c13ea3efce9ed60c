// tests/evaluate/correctness/covering_shapes_test.cpp - which shapes are drawn, for contracts of all kinds.
#include "harness/evaluate/correctness/covering_shapes.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "harness/core/expression/expression.h"

namespace apo {
namespace {

// One tensor of all axes; listed is b=1 rows=16 cols=64, and the small one half of that.
Family family_with(std::function<bool(const Axes&)> is_legal) {
  Family family{
      .name = "shaped",
      .axes = {{.name = "b", .min = 1, .max = 64},
               {.name = "rows", .min = 1, .max = 4096},
               {.name = "cols", .min = 1, .max = 65536}},
      .tensors = {{.name = "x",
                   .dtype = DType::f32,
                   .shape =
                       [](const Axes& axes) {
                         return std::vector<std::int64_t>{axes.at("b"), axes.at("rows"), axes.at("cols")};
                       }}},
      .workloads = {{.name = "large", .axes = {{"b", 1}, {"rows", 16}, {"cols", 64}}, .kind = WorkloadKind::production},
                    {.name = "small", .axes = {{"b", 1}, {"rows", 8}, {"cols", 32}}}},
      .legal = "1"};
  family.invalid = [is_legal](const Axes& axes) { return std::string(is_legal(axes) ? "" : "not legal"); };
  family.unit_count = [](const Axes& axes) { return axes.at("rows"); };
  family.work = [](const Axes& axes) {
    return Work{.flops = static_cast<double>(axes.at("b") * axes.at("rows") * axes.at("cols"))};
  };
  return family;
}

bool all(const Axes&) {
  return true;
}

std::vector<Axes> drawn(const Family& family, std::uint64_t seed, const std::function<bool(const Axes&)>& takes = all,
                        std::int64_t elements = 1 << 16) {
  return covering_shapes(family, {.elements = elements, .operations = 0x1p19}, 12, takes, seed);
}

TEST(CoveringShapes, HaveEveryTwoAxesAtTheirMinimumInsideAndBeyondTheWorkloads) {
  const Family family = family_with(all);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Axes> shapes = drawn(family, seed);
    EXPECT_LE(shapes.size(), 12U);
    std::set<std::pair<int, int>> places;
    std::set<bool> batches;
    for (const Axes& axes : shapes) {
      const auto place = [&](const char* axis, std::int64_t listed) {
        return axes.at(axis) == 1 ? 0 : axes.at(axis) <= listed ? 1 : 2;
      };
      places.emplace(place("rows", 16), place("cols", 64));
      batches.insert(axes.at("b") > 1);
    }
    EXPECT_GE(places.size(), 8U) << "of nine, with seed " << seed;
    EXPECT_EQ(batches.size(), 2U) << "an axis that is 1 in every workload changes";
  }
}

TEST(CoveringShapes, AreLegalTakenAndWithinTheBudget) {
  const Family family = family_with([](const Axes& axes) { return axes.at("cols") % axes.at("rows") == 0; });
  const auto takes = [](const Axes& axes) { return axes.at("cols") % 24 == 0; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Axes> shapes = drawn(family, seed, takes, 4096);
    EXPECT_GE(shapes.size(), 4U) << seed;
    for (const Axes& axes : shapes) {
      EXPECT_EQ(check_axes(family, axes), "");
      EXPECT_TRUE(takes(axes)) << describe_axes(axes);
      EXPECT_LE(element_count(family, axes), 4096);
    }
  }
}

TEST(CoveringShapes, HaveNoNegativeSize) {
  Family family = family_with([](const Axes& axes) { return axes.at("cols") >= axes.at("rows"); });
  family.tensors[0].shape = [](const Axes& axes) {
    return std::vector<std::int64_t>{axes.at("b"), evaluate_size("cols-rows+1", axes)};
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GE(drawn(family, seed).size(), 4U) << seed;
  }
}

TEST(CoveringShapes, AreCheapWhereTheWorkOfLargerOnesIsUnderestimated) {
  Family family = family_with(all);
  const auto work = family.work;
  family.work = [work](const Axes& axes) {  // 1024 is the largest workload's
    return Work{.flops = std::min(work(axes).flops, 1024.0)};
  };
  const std::vector<Axes> shapes = covering_shapes(family, {.elements = 1 << 16, .operations = 256}, 12, all, 1);
  EXPECT_GE(shapes.size(), 4U);
  for (const Axes& axes : shapes) {
    EXPECT_LE(work(axes).flops, 256) << describe_axes(axes);
  }
}

TEST(CoveringShapes, OfOneGroupingAreThoseThatItTakes) {
  const Family family = family_with([](const Axes& axes) { return axes.at("rows") % axes.at("b") == 0; });
  const auto takes = [](const Axes& axes) { return axes.at("rows") == 4 * axes.at("b"); };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GE(drawn(family, seed, takes).size(), 3U) << seed;
  }
}

TEST(CoveringShapes, OfACandidateThatTakesNoSmallWorkloadComeFromAProductionOne) {
  Family family = family_with(all);
  family.workloads[0].axes = {{"b", 4}, {"rows", 256}, {"cols", 1024}};
  const auto takes = [](const Axes& axes) {
    return axes.at("b") % 2 == 0 && axes.at("rows") % 64 == 0 && axes.at("cols") % 128 == 0;
  };
  EXPECT_EQ(base_shapes(family, takes, 1 << 18).back(), (Axes{{"b", 2}, {"rows", 64}, {"cols", 128}}));
  EXPECT_EQ(base_shapes(family, takes, 1 << 10).size(), 1U) << "no production workload is small enough";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GE(drawn(family, seed, takes, 1 << 18).size(), 3U) << seed;
  }
}

TEST(CoveringShapes, AreNoneWhereNothingElseIsTaken) {
  const Family family = family_with(all);
  EXPECT_TRUE(drawn(family, 1, [&](const Axes& axes) { return axes == family.workloads[0].axes; }).empty());
}

TEST(CoveringShapes, KeepAxesThatABuildKnows) {
  Family family = family_with(all);
  family.axes[0].specialised = true;
  for (const Axes& axes : drawn(family, 3)) {
    EXPECT_EQ(axes.at("b"), 1);
  }
}

}  // namespace
}  // namespace apo
