// tests/research/search/search_space_test.cpp - the points of a space, and which are neighbours.
#include "harness/research/search/search_space.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/core/error.h"

namespace apo {
namespace {

std::set<Levels> neighbours_in(const SearchSpace& space, const Levels& point) {
  std::set<Levels> found;
  for (const std::size_t index : space.neighbours(space.find(point).value())) {
    found.insert(space.point(index));
  }
  return found;
}

TEST(SearchSpace, NeighboursAreOneStepAlongEachParameter) {
  const SearchSpace space({{.name = "A", .levels = 3}, {.name = "B", .levels = 2}},
                          {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
  EXPECT_EQ(neighbours_in(space, {1, 0}), (std::set<Levels>{{0, 0}, {2, 0}, {1, 1}}));
  EXPECT_EQ(neighbours_in(space, {0, 1}), (std::set<Levels>{{0, 0}, {1, 1}}));
}

TEST(SearchSpace, AStepPassesOverLevelsThatAreNotLegal) {
  const SearchSpace space({{.name = "A", .levels = 4}}, {{0}, {2}, {3}});
  EXPECT_EQ(neighbours_in(space, {0}), (std::set<Levels>{{2}}));
  EXPECT_EQ(neighbours_in(space, {2}), (std::set<Levels>{{0}, {3}}));
  EXPECT_FALSE(space.find({1}));
}

TEST(SearchSpace, EveryLevelOfAParameterWithoutOrderIsANeighbour) {
  const SearchSpace space({{.name = "A", .levels = 4, .ordered = false}}, {{0}, {1}, {2}, {3}});
  EXPECT_EQ(neighbours_in(space, {0}), (std::set<Levels>{{1}, {2}, {3}}));
}

TEST(SearchSpace, WithoutALegalConfigurationIsAnErrorThatSaysSo) {
  try {
    const SearchSpace space({{.name = "A", .levels = 2}}, {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "the space has no legal configuration");
    EXPECT_NE(error.hint().find("apo:requires"), std::string::npos);
  }
}

TEST(SearchSpace, AConfigurationThatStandsTwiceIsAnError) {
  EXPECT_THROW(SearchSpace({{.name = "A", .levels = 2}}, {{1}, {1}}), UserError);
}

}  // namespace
}  // namespace apo
