// tests/kernels/small_shape_test.cpp - large workloads become small ones of the same contract.
#include "kernels/small_shape.h"

#include <gtest/gtest.h>

#include <functional>

namespace apo {
namespace {

// x and y of all axes.
Family family_with(const std::vector<std::string>& names, std::function<bool(const Axes&)> is_legal) {
  Family family{.name = "shaped"};
  for (const std::string& name : names) {
    family.axes.push_back({.name = name, .min = 1, .max = 1 << 30});
  }
  for (const char* tensor : {"x", "y"}) {
    family.tensors.push_back({.name = tensor, .shape = [](const Axes& axes) {
                                std::vector<std::int64_t> extents;
                                for (const auto& [name, value] : axes) {
                                  extents.push_back(value);
                                }
                                return extents;
                              }});
  }
  family.invalid = [is_legal](const Axes& axes) { return std::string(is_legal(axes) ? "" : "not legal"); };
  return family;
}

bool all(const Axes&) {
  return true;
}

TEST(SmallShape, HalvesTheLongestAxisUntilTheTensorsAreSmall) {
  const Family family = family_with({"B", "T", "C"}, all);
  const Axes whole = {{"B", 8}, {"T", 1024}, {"C", 768}};
  const Axes small = small_shape(family, whole, kSmallElements);
  EXPECT_EQ(small, (Axes{{"B", 8}, {"T", 64}, {"C", 48}}));
  EXPECT_EQ(ragged_shape(family, small, whole), (Axes{{"B", 8}, {"T", 63}, {"C", 47}}));
  EXPECT_LE(element_count(family, small_shape(family, whole)), kScaledElements);
  EXPECT_EQ(small_shape(family, whole, kSmallElements, {{"C", 1e-9}}), (Axes{{"B", 4}, {"T", 8}, {"C", 768}}));
}

TEST(SmallShape, KeepsWhatIsOddAndWhatTheContractAsksFor) {
  EXPECT_EQ(small_shape(family_with({"V"}, all), {{"V", 50257}}), (Axes{{"V", 6283}}));
  const Family blocks = family_with({"C", "N"}, [](const Axes& axes) { return axes.at("C") % 32 == 0; });
  const Axes whole = {{"C", 1 << 20}, {"N", 3}};
  EXPECT_EQ(small_shape(blocks, whole, 1), (Axes{{"C", 32}, {"N", 3}}));
  EXPECT_EQ(ragged_shape(blocks, small_shape(blocks, whole), whole).at("C") % 32, 0);
  // Heads and their size make up the width: two axes are halved together.
  const Family heads =
      family_with({"C", "D", "H"}, [](const Axes& axes) { return axes.at("C") == axes.at("D") * axes.at("H"); });
  EXPECT_EQ(small_shape(heads, {{"C", 768}, {"D", 64}, {"H", 12}}, 1 << 12), (Axes{{"C", 24}, {"D", 4}, {"H", 6}}));
}

TEST(SmallShape, IsAsSmallAsTheContractAllows) {
  Family family = family_with({"V"}, all);
  family.axes[0].min = 40000;
  EXPECT_EQ(small_shape(family, {{"V", 100000}}), (Axes{{"V", 50000}}));
  family.axes[0].specialised = true;
  EXPECT_EQ(small_shape(family, {{"V", 100000}}), (Axes{{"V", 100000}}));
}

}  // namespace
}  // namespace apo
