// tests/research/search/space_options_test.cpp - which settings are options, of small and large spaces.
#include "harness/research/search/space_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace apo {
namespace {

bool anything(const Settings&) {
  return true;
}

Variant with_tunables(int count, const std::vector<std::int64_t>& values) {
  Variant variant;
  for (int i = 0; i < count; ++i) {
    variant.tunables.push_back({.name = std::string(1, static_cast<char>('A' + i)), .values = values});
  }
  return variant;
}

TEST(SpaceOptions, OfASmallSpaceAreAllThatIsLegal) {
  const Variant variant = with_tunables(2, {8, 1, 4});
  EXPECT_EQ(space_options(variant, anything, {}, 1).size(), 9U);
  const auto legal = [](const Settings& settings) { return settings.at("A") <= settings.at("B"); };
  EXPECT_EQ(space_options(variant, legal, {}, 1).size(), 6U);
  EXPECT_EQ(space_options(Variant(), anything, {}, 1), std::vector<Settings>{Settings()});
}

TEST(SpaceOptions, OfALargeSpaceAreTheNeighboursOfTheBestAndSuggestions) {
  const Variant variant = with_tunables(5, {1, 2, 3, 4});  // 1024
  const KnownSettings start{.settings = {{"A", 1}, {"B", 1}, {"C", 1}, {"D", 1}, {"E", 1}}, .effect = 0};
  KnownSettings best = start;
  best.settings["A"] = 3;
  best.effect = 0.5;
  const std::vector<Settings> options = space_options(variant, anything, {start, best}, 1);
  EXPECT_EQ(options, space_options(variant, anything, {start, best}, 1));
  EXPECT_LE(options.size(), 6U + kSuggestions);
  EXPECT_GE(options.size(), kSuggestions);
  EXPECT_EQ(std::set<Settings>(options.begin(), options.end()).size(), options.size());
  for (const std::int64_t value : {2, 4}) {
    Settings step = best.settings;
    step["A"] = value;
    EXPECT_NE(std::ranges::find(options, step), options.end()) << value;
  }
}

// As many combinations as no metadata block may declare.
TEST(SpaceOptions, OfAnEndlessSpaceAreNone) {
  EXPECT_TRUE(space_options(with_tunables(9, {1, 2, 3, 4}), anything, {}, 1).empty());
}

}  // namespace
}  // namespace apo
