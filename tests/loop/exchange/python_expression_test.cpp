// tests/loop/exchange/python_expression_test.cpp - what a definition says of its axes, and what is not understood.
#include "harness/loop/exchange/python_expression.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/core/expression/expression.h"

namespace apo {
namespace {

TranslatedExpression translate(const std::string& python) {
  return translate_python(python, [](const std::string& name) { return name; });
}

std::int64_t value_of(const std::string& python) {
  return evaluate(translate(python).text, {{"a", 7}, {"b", 2}, {"c", 3}});
}

TEST(PythonExpression, HasTheValueThatPythonGives) {
  EXPECT_EQ(value_of("a * b + c"), 17);
  EXPECT_EQ(value_of("-a // b"), -4);
  EXPECT_EQ(value_of("a % b ** 2"), 3);
  EXPECT_EQ(value_of("(a - b) * -c"), -15);
  EXPECT_EQ(value_of("a == b * c + 1 and not b > c"), 1);
  EXPECT_EQ(value_of("a < b or c != 3"), 0);
}

TEST(PythonExpression, ADivisionWithASlashHasToBeExact) {
  const TranslatedExpression half = translate("a / b");
  EXPECT_EQ(half.text, "a/b");
  EXPECT_EQ(half.conditions, std::vector<std::string>{"a%b == 0"});
}

TEST(PythonExpression, WhatIsNotUnderstoodIsSaid) {
  for (const char* python : {"", "a +", "a b", "(a", "a < b < c", "kv_indptr[-1].item() == a", "a ** b", "a ** 9",
                             "min(a, b)", "a = b", "a.b", "\"x\"", "a if b else c"}) {
    EXPECT_THROW(translate(python), std::invalid_argument) << python;
  }
  EXPECT_THROW(translate(std::string(100'000, '(')), std::invalid_argument);
}

}  // namespace
}  // namespace apo
