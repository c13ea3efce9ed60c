// tests/implement/variant/cpp_keywords_test.cpp - what cannot name anything in generated C++.
#include "harness/implement/variant/cpp_keywords.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(CppKeywords, AreWholeWordsOfTheLanguage) {
  EXPECT_TRUE(is_cpp_keyword("class"));
  EXPECT_TRUE(is_cpp_keyword("co_await"));
  EXPECT_TRUE(is_cpp_keyword("xor"));
  EXPECT_FALSE(is_cpp_keyword("classes"));
  EXPECT_FALSE(is_cpp_keyword(""));
}

}  // namespace
}  // namespace apo
