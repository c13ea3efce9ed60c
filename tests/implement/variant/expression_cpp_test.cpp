// tests/implement/variant/expression_cpp_test.cpp - the C++ that expressions become has their values, compiled by a
// compiler.
#include "harness/implement/variant/expression_cpp.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/core/expression/expression.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

std::string symbol(std::string_view name) {
  return "number(" + std::string(name) + ")";
}

std::string value_text(const std::string& expression, const Symbols& symbols) {
  try {
    return std::to_string(evaluate(expression, symbols));
  } catch (const ExpressionError&) {
    return "none";
  }
}

// One line for each expression and set of symbols, as the compiled translation computes it.
std::vector<std::string> compiled_values(const std::vector<std::string>& expressions,
                                         const std::vector<Symbols>& sets) {
  std::string program = "#include <cstdint>\n#include <cstdio>\n" + std::string(cpp_arithmetic()) +
                        "static void show(Number a) { if (a.known) std::printf(\"%lld\\n\", (long long)a.value); else "
                        "std::puts(\"none\"); }\n"
                        "static void all(std::int64_t a, std::int64_t b, std::int64_t c) {\n";
  for (const std::string& expression : expressions) {
    program += "  show(" + to_cpp(expression, symbol) + ");\n";
  }
  program += "}\nint main() {\n";
  for (const Symbols& set : sets) {
    program += "  all(" + std::to_string(set.at("a")) + ", " + std::to_string(set.at("b")) + ", " +
               std::to_string(set.at("c")) + ");\n";
  }
  const TemporaryFolder folder("apo-expression-test");
  write_file_atomically(folder.path() / "a.cpp", program + "}\n");
  const ProcessResult built = run_process({"g++", "-std=c++17", "-fsanitize=undefined", "-fno-sanitize-recover=all",
                                           (folder.path() / "a.cpp").string(), "-o", (folder.path() / "a").string()},
                                          {.timeout_s = 1000});
  EXPECT_TRUE(built.ok()) << built.error.substr(0, 2000);
  const ProcessResult ran = run_process({(folder.path() / "a").string()});
  EXPECT_TRUE(ran.ok()) << ran.error;
  std::vector<std::string> lines = split(ran.output, '\n');
  lines.pop_back();
  return lines;
}

// Expressions of every operator and shape, some without a value.
class Generator {
 public:
  std::string expression(int depth) {
    switch (depth == 0 ? pick(2) : pick(9)) {
      case 0:
        return std::string(1, "abc"[pick(3)]);
      case 1:
        return std::to_string(pick(5) == 0 ? 9007199254740991 : 1 + pick(7));
      case 2:
        return "(" + expression(depth - 1) + ")";
      case 3:
        return (pick(2) == 0 ? "-" : "!") + std::string("(") + expression(depth - 1) + ")";
      case 4:
        return (pick(2) == 0 ? "min(" : "max( ") + expression(depth - 1) + "," + expression(depth - 1) + " ," +
               expression(depth - 1) + ")";
      case 5:
        return "ceil_div(" + expression(depth - 1) + ", " + expression(depth - 1) + ")";
      case 6:
        return "(" + expression(depth - 1) + " ? " + expression(depth - 1) + " : " + expression(depth - 1) + ")";
      default: {
        static const std::vector<std::string> kSigns = {
            "||", "&&", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "%"};
        const std::string space = pick(2) == 0 ? " " : "";
        return expression(depth - 1) + space + kSigns[static_cast<std::size_t>(pick(13))] + space +
               expression(depth - 1);
      }
    }
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  std::mt19937 random_{20260203};
};

TEST(ExpressionCpp, ComputesWhatTheEvaluatorComputes) {
  std::vector<std::string> expressions = {"a/b",
                                          "a%b",
                                          "-a/b",
                                          "a - -b",
                                          "!a == b",
                                          "a == b < c",
                                          "a < b == c",
                                          "a || b && c",
                                          "a-b-c",
                                          "a*b%c",
                                          "a ? b : c",
                                          "a ? b : c ? a : b",
                                          "a ? b ? c : a : b",
                                          "1+a?b:c",
                                          "0 && a/0",
                                          "a ? 1 : b/c",
                                          "min(a)",
                                          "max(a,b,c,1)",
                                          "9007199254740991+a",
                                          "ceil_div(-a,b)",
                                          "next_pow2(a) + next_pow2(b*c)",
                                          "next_pow2(9007199254740991)",
                                          "a*b*c*1000000000"};
  Generator generator;
  for (int i = 0; i < 400; ++i) {
    expressions.push_back(generator.expression(1 + i % 4));
  }
  const std::vector<Symbols> sets = {{{"a", 7}, {"b", -2}, {"c", 3}},
                                     {{"a", 0}, {"b", 5}, {"c", 0}},
                                     {{"a", -9007199254740991}, {"b", 94906266}, {"c", -1}}};
  const std::vector<std::string> values = compiled_values(expressions, sets);
  ASSERT_EQ(values.size(), expressions.size() * sets.size());
  std::size_t at = 0;
  std::size_t without_value = 0;
  for (const Symbols& set : sets) {
    for (const std::string& expression : expressions) {
      EXPECT_EQ(values[at], value_text(expression, set)) << expression << " with a = " << set.at("a");
      without_value += values[at++] == "none" ? 1U : 0U;
    }
  }
  EXPECT_GT(without_value, 20U);
  EXPECT_LT(without_value, values.size() / 2);
}

TEST(ExpressionCpp, WhatIsNoExpressionIsRefused) {
  for (const char* expression :
       {"",      "a+",  "a b", "(a",  "a)",  "a ? b", "sqrt(a)", "min()", "ceil_div(a)", "a = b",
        "a & b", "--a", "!-a", "1.5", "1e3", "0x10",  "'a'",     "\"a\"", "a; b",        "9007199254740992"}) {
    EXPECT_NE(error_of([&] { to_cpp(expression, symbol); }), "") << expression;
  }
  expect_contains(error_of([] { to_cpp("a + )", symbol); }), "at character 5");
  EXPECT_NE(error_of([] { to_cpp(std::string(4000, '('), symbol); }), "") << "deep nesting has to end in an error";
}

TEST(ExpressionCpp, ALiteralHoldsAnyBytes) {
  EXPECT_EQ(cpp_literal("plain */ //"), "\"plain */ //\"");
  EXPECT_EQ(cpp_literal("a\"b\\c\n1"), R"("a\"b\\c\0121")");
  EXPECT_EQ(cpp_literal(std::string(2, '?') + "/"), R"("\?\?/")");
  EXPECT_EQ(cpp_literal(std::string_view("\0\xff", 2)), R"("\000\377")");
}

}  // namespace
}  // namespace apo
