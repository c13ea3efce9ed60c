// tests/families/extrapolate_test.cpp - the work of a large shape, from runs of small ones alone.
#include "harness/families/extrapolate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "kernels/small_shape.h"

namespace apo {
namespace {

Family family_of_axes(const std::vector<std::string>& names) {
  Family family{.name = "counted"};
  for (const std::string& name : names) {
    family.axes.push_back({.name = name, .min = 1, .max = 1 << 30});
  }
  family.tensors = {{.name = "x", .shape = [](const Axes& axes) {
                       std::vector<std::int64_t> extents;
                       for (const auto& [name, value] : axes) {
                         extents.push_back(value);
                       }
                       return extents;
                     }}};
  return family;
}

using Count = std::function<double(const std::function<double(const char*)>&)>;

Extrapolated of(const Family& family, const Axes& axes, const Count& count) {
  return extrapolate(family, axes, [&](const Axes& at) {
    EXPECT_LE(element_count(family, at), kSmallElements);
    return Counts{{"flops", count([&](const char* axis) { return static_cast<double>(at.at(axis)); })}};
  });
}

TEST(Extrapolate, CountsThatArePolynomialsOfTheAxesAreExactAtAnySize) {
  const Family norm = family_of_axes({"B", "T", "C"});
  const Axes llm = {{"B", 8}, {"T", 1024}, {"C", 768}};
  const Extrapolated rows = of(norm, llm, [](auto at) { return at("B") * at("T") * (7 * at("C") + 5); });
  EXPECT_EQ(rows.counts.at("flops"), 8.0 * 1024 * (7 * 768 + 5));
  EXPECT_FALSE(rows.is_estimate);
  const Extrapolated causal =
      of(norm, llm, [](auto at) { return at("B") * at("C") * at("T") * (at("T") + 1) / 2 + 3; });
  EXPECT_EQ(causal.counts.at("flops"), 8.0 * 768 * 1024 * 1025 / 2 + 3);
  const Extrapolated odd = of(family_of_axes({"B", "C", "T", "V"}), {{"B", 8}, {"C", 768}, {"T", 1024}, {"V", 50257}},
                              [](auto at) { return at("B") * at("T") * (3 * at("V") + at("C")) - at("V"); });
  EXPECT_EQ(odd.counts.at("flops"), 8.0 * 1024 * (3 * 50257 + 768) - 50257);
  EXPECT_EQ(of(family_of_axes({"n"}), {{"n", 1 << 24}}, [](auto at) { return 2 * at("n"); }).counts.at("flops"),
            2.0 * (1 << 24));
}

TEST(Extrapolate, AxesThatTheContractTiesTogetherAreScaledTogether) {
  Family heads = family_of_axes({"C", "D", "H"});
  heads.invalid = [](const Axes& axes) { return axes.at("C") == axes.at("D") * axes.at("H") ? "" : "no"; };
  const Extrapolated result =
      of(heads, {{"C", 4096}, {"D", 128}, {"H", 32}}, [](auto at) { return 5 * at("C") * at("D") + 2 * at("H"); });
  EXPECT_EQ(result.counts.at("flops"), 5.0 * 4096 * 128 + 2 * 32);
}

TEST(Extrapolate, AnAxisMayBeBoundedByAnother) {
  Family padded = family_of_axes({"B", "P", "T", "V"});
  padded.invalid = [](const Axes& axes) { return axes.at("V") <= axes.at("P") ? "" : "no"; };
  padded.tensors[0].shape = [](const Axes& axes) {
    return std::vector<std::int64_t>{axes.at("B"), axes.at("T"), 2 * axes.at("P")};
  };
  const Extrapolated result = of(padded, {{"B", 8}, {"P", 50304}, {"T", 1024}, {"V", 50257}},
                                 [](auto at) { return at("B") * at("T") * (5 * at("V") + 2); });
  EXPECT_EQ(result.counts.at("flops"), 8.0 * 1024 * (5 * 50257 + 2));
  EXPECT_FALSE(result.is_estimate);
}

TEST(Extrapolate, BlocksThatTheContractAsksForLeaveRoomForSeveralShapes) {
  Family blocks = family_of_axes({"M", "N"});
  blocks.invalid = [](const Axes& axes) { return axes.at("N") % 128 == 0 ? "" : "no"; };
  const Extrapolated result = of(blocks, {{"M", 4096}, {"N", 7168}}, [](auto at) { return at("M") * at("N") / 128; });
  EXPECT_EQ(result.counts.at("flops"), 4096.0 * 7168 / 128);
  EXPECT_FALSE(result.is_estimate);
}

// A window of 100, and what the values of the inputs decide.
TEST(Extrapolate, OtherCountsAreAnEstimateAndSaidToBeOne) {
  const Family one = family_of_axes({"n"});
  EXPECT_TRUE(of(one, {{"n", 1 << 22}}, [](auto at) { return at("n") * std::log2(at("n")); }).is_estimate);
  const Family two = family_of_axes({"T", "n"});
  const Axes axes = {{"T", 1 << 20}, {"n", 1 << 10}};
  const Extrapolated window = of(two, axes, [](auto at) { return at("n") * at("T") * std::min(at("T"), 100.0); });
  EXPECT_TRUE(window.is_estimate);
  EXPECT_NEAR(window.counts.at("flops") / (std::ldexp(1.0, 30) * 100), 1, 0.6);
}

// Each query reads so many of the keys before it. A floor that is too high would refuse a right kernel.
TEST(Extrapolate, AWindowLongerThanWhatIsCountedGivesNoMoreThanItsOwnWork) {
  const Family attention = family_of_axes({"B", "D", "T"});
  const Axes axes = {{"B", 8}, {"D", 64}, {"T", 32768}};
  for (const double window : {300.0, 4096.0, 20000.0, 1e9}) {
    const Count count = [&](auto at) {
      const double reach = std::min(at("T"), window);
      return at("B") * (at("D") * (at("T") * reach - reach * (reach - 1) / 2) + 5 * at("T"));
    };
    const double flops = count([&](const char* axis) { return static_cast<double>(axes.at(axis)); });
    const Extrapolated result = of(attention, axes, count);
    EXPECT_EQ(result.is_estimate, window < 4096) << window;
    if (!result.is_estimate) {
      EXPECT_LE(result.counts.at("flops"), flops) << window;
      EXPECT_GT(result.counts.at("flops"), flops / 20) << window;
    }
  }
}

}  // namespace
}  // namespace apo
