// tests/core/pattern_test.cpp - groups, places and replacements of regular expressions.
#include "harness/core/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace apo {
namespace {

TEST(Pattern, TellsAGroupThatTookNoPartFromAnEmptyOne) {
  const Pattern pattern("(a*)-(b)?");
  EXPECT_EQ(pattern.groups(), 2u);
  const auto match = pattern.match("-");
  ASSERT_TRUE(match);
  EXPECT_TRUE(match->has(1));
  EXPECT_FALSE(match->has(2));
  EXPECT_EQ((*match)[0], "-");
  EXPECT_EQ((*match)[2], "");
}

TEST(Pattern, MatchesTheWholeTextAndSearchesForTheFirst) {
  const Pattern pattern("[0-9]+");
  EXPECT_FALSE(pattern.matches("ab12"));
  EXPECT_TRUE(pattern.matches("12"));
  const auto first = pattern.search("ab12 345");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->begin, 2u);
  EXPECT_EQ(first->end, 4u);
  EXPECT_FALSE(pattern.found_in("ab"));
}

TEST(Pattern, FindsAllAndReplacesThemByTheirGroups) {
  const Pattern pattern("(x)[0-9]", PatternCase::ignored);
  const auto all = pattern.all("x1 X2 y3");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1][1], "X");
  EXPECT_EQ(pattern.replace("x1 X2 y3", "$1"), "x X y3");
}

TEST(Pattern, AnExpressionThatIsNoneIsAnErrorThatSaysWhy) {
  try {
    const Pattern pattern("(a");
    FAIL() << "it was taken";
  } catch (const PatternError& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
}

}  // namespace
}  // namespace apo
