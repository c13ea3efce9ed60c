// tests/core/expression/expression_test.cpp - exact integers, or a typed error; never undefined behaviour.
#include "harness/core/expression/expression.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/text.h"

namespace apo {
namespace {

constexpr std::int64_t kLargest = (std::int64_t{1} << 53) - 1;

std::int64_t value(std::string_view expression) {
  return evaluate(expression, {{"B", 2}, {"T", 512}, {"H", 83}, {"N", 32}, {"V", 32}, {"HEADS_PER_BLOCK", 4}});
}

TEST(Expression, ComputesTheExpressionsOfTheDesign) {
  EXPECT_EQ(value("B*ceil_div(H,HEADS_PER_BLOCK)"), 42);
  EXPECT_EQ(value("2*B*H*16*(N*V+N+V+1)"), 5784768);
  EXPECT_EQ(value("N <= 64 && V <= 32"), 1);
  EXPECT_EQ(value("N <= 64 && V < 32"), 0);
}

TEST(Expression, DivisionRoundsDownAndModuloFits) {
  for (const auto& [expression, result] : {std::pair{"7/2", 3},
                                           {"-7/2", -4},
                                           {"7/-2", -4},
                                           {"-7/-2", 3},
                                           {"-8/2", -4},
                                           {"7%2", 1},
                                           {"-7%2", 1},
                                           {"7%-2", -1},
                                           {"-7%-2", -1},
                                           {"6%3", 0},
                                           {"ceil_div(7,2)", 4},
                                           {"ceil_div(-7,2)", -3},
                                           {"ceil_div(8,2)", 4},
                                           {"next_pow2(1000)", 1024},
                                           {"next_pow2(1024)", 1024},
                                           {"next_pow2(1)+next_pow2(0)+next_pow2(-5)", 3}}) {
    EXPECT_EQ(value(expression), result) << expression;
  }
}

TEST(Expression, DivisionIsExactWhereDoubleDivisionRounds) {
  EXPECT_EQ(evaluate("a/b", {{"a", kLargest}, {"b", kLargest - 1}}), 1);
  EXPECT_EQ(evaluate("(a-1)/a", {{"a", kLargest}}), 0);
  EXPECT_EQ(evaluate("a%1000", {{"a", kLargest}}), 740991 % 1000);
}

TEST(Expression, OperatorsBindAsInC) {
  for (const auto& [expression, result] : {std::pair{"2+3*4", 14},
                                           {"(2+3)*4", 20},
                                           {"10-4-3", 3},
                                           {"100/5/2", 10},
                                           {"1+2<4", 1},
                                           {"1<2==1", 1},
                                           {"0&&0||1", 1},
                                           {"1||0&&0", 1},
                                           {"!0+1", 2},
                                           {"!(1>2)", 1},
                                           {"!5==0", 1},
                                           {"-(-3)", 3},
                                           {"2*-3", -6},
                                           {"-2*3", -6},
                                           {"3!=3", 0},
                                           {"3>=3", 1},
                                           {"min(4,2,9)", 2},
                                           {"max(4,2,9)", 9},
                                           {"min(7)", 7}}) {
    EXPECT_EQ(value(expression), result) << expression;
  }
}

TEST(Expression, ConditionalTakesOneBranch) {
  EXPECT_EQ(value("N > 16 ? H : T"), 83);
  EXPECT_EQ(value("N < 16 ? H : V < 33 ? 2*T : 1"), 1024);
  EXPECT_EQ(value("N - V ? 1 : 2"), 2);
  EXPECT_EQ(value("V == 0 ? 0 : N / V"), 1);
  EXPECT_EQ(evaluate("V == 0 ? 0 : N / V", {{"N", 4}, {"V", 0}}), 0);
}

TEST(Expression, DivisionByZeroIsAnError) {
  for (const char* expression : {"1/0", "1%0", "N/(V-32)", "N%(N-V)", "ceil_div(1,0)", "0/0"}) {
    expect_contains(error_of([&] { value(expression); }), "division by zero in");
  }
}

TEST(Expression, NothingBeyondTwoToThe53IsComputed) {
  EXPECT_EQ(evaluate("a", {{"a", kLargest}}), kLargest);
  EXPECT_EQ(evaluate("a-1+1", {{"a", kLargest}}), kLargest);
  for (const char* expression :
       {"a+1", "a*a", "0-a-1", "(a+1)-(a+1)", "9007199254740992", "99999999999999999999999", "1 || a*a"}) {
    expect_contains(error_of([&] { evaluate(expression, {{"a", kLargest}}); }), "2^53");
  }
  expect_contains(error_of([] { evaluate("a", {{"a", kLargest + 2}}); }), "2^53");
  expect_contains(error_of([] { evaluate("a", {{"a", std::numeric_limits<std::int64_t>::min()}}); }), "2^53");
}

TEST(Expression, OnlyIntegersParse) {
  for (const char* expression : {"1.5",
                                 "1e3",
                                 "0x10",
                                 ".5",
                                 "1 2",
                                 "(1",
                                 "1)",
                                 "1+",
                                 "*1",
                                 "1=1",
                                 "a=3",
                                 "B=3",
                                 "sin(1)",
                                 "pi",
                                 "_pi",
                                 "2^3",
                                 "1?2",
                                 "1:2",
                                 "\"x\"",
                                 "1;2",
                                 "",
                                 "  ",
                                 "()",
                                 "min()",
                                 "ceil_div(1)",
                                 "next_pow2(1,2)",
                                 "ceil_div(1,2,3)",
                                 "1,2",
                                 "B,H",
                                 "1 & 2",
                                 "1 | 2",
                                 "~1",
                                 "1 << 2",
                                 "B\n",
                                 "B\xff",
                                 "rnd(3)",
                                 "if(1,2,3)"}) {
    EXPECT_THROW(value(expression), ExpressionError) << expression;
  }
}

TEST(Expression, UnknownSymbolIsNamedWithTheNearestOne) {
  const std::string why = check_expression("B*HEAD_PER_BLOCK", {"B", "HEADS_PER_BLOCK"});
  expect_contains(why, "unknown symbol 'HEAD_PER_BLOCK'");
  expect_contains(why, "did you mean 'HEADS_PER_BLOCK'?");
  EXPECT_EQ(check_expression("B*HEADS_PER_BLOCK", {"B", "HEADS_PER_BLOCK"}), "");
}

TEST(Expression, CheckFindsWhatIsWrongWithoutValues) {
  EXPECT_NE(check_expression("B*(", {"B"}), "");
  EXPECT_NE(check_expression("B*9007199254740992", {"B"}), "");
  EXPECT_EQ(check_expression("B/B", {"B"}), "");
}

TEST(Expression, NegativeSizeIsAnError) {
  EXPECT_EQ(evaluate_size("N-V", {{"N", 4}, {"V", 4}}), 0);
  expect_contains(error_of([] { evaluate_size("N-V", {{"N", 4}, {"V", 5}}); }), "is -1, but a size cannot be negative");
}

TEST(Expression, HostileLengthAndDepthAreRefusedOrComputed) {
  EXPECT_THROW(value(std::string(100000, '(')), ExpressionError);
  EXPECT_EQ(value(std::string(1500, '(') + "1" + std::string(1500, ')')), 1);
  EXPECT_THROW(value(std::string(5000, '1')), ExpressionError);
}

TEST(Expression, SplitsAtTopLevelCommasOnly) {
  EXPECT_EQ(split_expressions("B, ceil_div(H,2) ,1"), (std::vector<std::string>{"B", "ceil_div(H,2)", "1"}));
  EXPECT_EQ(split_expressions("B"), std::vector<std::string>{"B"});
}

}  // namespace
}  // namespace apo
