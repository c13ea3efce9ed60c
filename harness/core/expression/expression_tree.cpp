// harness/core/expression/expression_tree.cpp - precedence climbing over one table of operators.
#include "harness/core/expression/expression_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr int kDeepest = 2000;  // nested brackets, signs and conditions

Integer floor_divide(Integer a, Integer b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Operands are below 2^53 in magnitude, so that nothing but a product can pass the limits of an Integer.
Integer product(Integer a, Integer b) {
  Integer result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kNumberLimit : result;
}

struct Operator {
  std::string_view sign;
  int level;  // the higher binds tighter; within a level from the left
  Function function;
};

// A longer sign stands before its beginning.
constexpr Operator kOperators[] = {
    {"||", 0, {"logical_or", 2, [](Integer a, Integer b) -> Integer { return a != 0 || b != 0; }}},
    {"&&", 1, {"logical_and", 2, [](Integer a, Integer b) -> Integer { return a != 0 && b != 0; }}},
    {"<=", 2, {"less_equal", 2, [](Integer a, Integer b) -> Integer { return a <= b; }}},
    {">=", 2, {"greater_equal", 2, [](Integer a, Integer b) -> Integer { return a >= b; }}},
    {"==", 2, {"equal", 2, [](Integer a, Integer b) -> Integer { return a == b; }}},
    {"!=", 2, {"not_equal", 2, [](Integer a, Integer b) -> Integer { return a != b; }}},
    {"<", 2, {"less", 2, [](Integer a, Integer b) -> Integer { return a < b; }}},
    {">", 2, {"greater", 2, [](Integer a, Integer b) -> Integer { return a > b; }}},
    {"+", 3, {"add", 2, [](Integer a, Integer b) { return a + b; }}},
    {"-", 3, {"subtract", 2, [](Integer a, Integer b) { return a - b; }}},
    {"*", 4, {"multiply", 2, product}},
    {"/", 4, {"divide", 2, floor_divide, true}},
    {"%", 4, {"modulo", 2, [](Integer a, Integer b) { return a - floor_divide(a, b) * b; }, true}}};
constexpr Function kNegate = {"negate", 1, [](Integer a, Integer) { return -a; }};
constexpr Function kNot = {"logical_not", 1, [](Integer a, Integer) -> Integer { return a == 0; }};
constexpr Function kSelect = {"select", 3, nullptr};
constexpr Function kMinimum = {"minimum", 2, [](Integer a, Integer b) { return std::min(a, b); }};
constexpr Function kMaximum = {"maximum", 2, [](Integer a, Integer b) { return std::max(a, b); }};
constexpr Function kCeilDiv = {"ceil_div", 2, [](Integer a, Integer b) { return -floor_divide(-a, b); }, true};

constexpr Function kNextPow2 = {
    "next_pow2", 1,
    [](Integer a, Integer) { return a <= 1 ? 1 : static_cast<Integer>(std::bit_ceil(static_cast<std::uint64_t>(a))); }};

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_name(char letter) {
  return is_digit(letter) || letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<ExpressionNode> parse() {
    condition(0);
    if (next() != '\0') {
      fail("an operator");
    }
    return std::move(nodes_);
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    throw ExpressionError(
        fmt::format("{} does not parse: {} is wanted at character {}", quoted_expression(text_), wanted, at_ + 1));
  }

  // What follows after blanks; 0 at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(std::string_view sign) {
    next();
    const bool there = text_.substr(at_).starts_with(sign);
    at_ += there ? sign.size() : 0;
    return there;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) {
      fail(fmt::format("'{}'", sign));
    }
  }

  // Each of these returns the position of the node that it made last.
  std::size_t add(ExpressionNode node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  std::size_t add(const Function& function, std::size_t column, const std::array<std::size_t, 3>& operands) {
    return add({.function = &function, .column = column, .operands = operands, .symbol = ""});
  }

  std::size_t condition(int depth) {
    const std::size_t first = binary(0, depth);
    if (!take("?")) {
      return first;
    }
    const std::size_t column = at_;
    const std::size_t yes = condition(depth + 1);
    expect(":");
    return add(kSelect, column, {first, yes, condition(depth + 1)});
  }

  std::size_t binary(int level, int depth) {
    std::size_t left = operand(depth);
    for (const Operator* found = next_operator(level); found != nullptr; found = next_operator(level)) {
      const std::size_t column = at_ + 1;
      at_ += found->sign.size();
      const std::size_t right = binary(found->level + 1, depth);
      left = add(found->function, column, {left, right});
    }
    return left;
  }

  const Operator* next_operator(int level) {
    const char first = next();
    const auto* found = std::ranges::find_if(kOperators, [&](const Operator& one) {
      return one.sign.front() == first && text_.substr(at_).starts_with(one.sign);
    });
    return found != std::end(kOperators) && found->level >= level ? found : nullptr;
  }

  std::size_t operand(int depth) {
    if (depth > kDeepest) {
      fail("an expression that is nested less deeply");
    }
    const char first = next();
    const std::size_t column = at_ + 1;
    if (first == '-' || first == '!') {
      ++at_;
      if (next() == '-' || next() == '!') {
        fail("one sign, or a bracket,");
      }
      const std::size_t inner = operand(depth + 1);
      return add(first == '-' ? kNegate : kNot, column, {inner});
    }
    if (take("(")) {
      const std::size_t inner = condition(depth + 1);
      expect(")");
      return inner;
    }
    return is_digit(first) ? number() : name(depth);
  }

  std::size_t number() {
    const std::size_t column = at_ + 1;
    Integer value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = value * 10 + (text_[at_] - '0');
      if (value >= kNumberLimit) {
        throw ExpressionError(fmt::format("{}, at character {} of {}", kTooLarge, column, quoted_expression(text_)));
      }
    }
    if (at_ < text_.size() && is_name(text_[at_])) {
      fail("an operator");
    }
    return add({.column = column, .number = value, .symbol = ""});
  }

  std::size_t name(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) {
      ++at_;
    }
    if (at_ == begin) {
      fail("a name, a number or '('");
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    return take("(") ? call(word, begin, depth) : add({.column = begin + 1, .symbol = std::string(word)});
  }

  std::size_t call(std::string_view function, std::size_t begin, int depth) {
    const bool divides = function == "ceil_div";
    const bool rounds = function == "next_pow2";
    if (!divides && !rounds && function != "min" && function != "max") {
      at_ = begin;
      fail("one of the functions min, max, ceil_div and next_pow2");
    }
    std::size_t result = condition(depth + 1);
    if (rounds) {
      expect(")");
      return add(kNextPow2, begin + 1, {result});
    }
    const Function& called = divides ? kCeilDiv : function == "min" ? kMinimum : kMaximum;
    int arguments = 1;
    for (; (!divides || arguments < 2) && take(","); ++arguments) {
      const std::size_t argument = condition(depth + 1);
      result = add(called, begin + 1, {result, argument});
    }
    if (divides && arguments < 2) {
      fail("',' and a second number");
    }
    expect(")");
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<ExpressionNode> nodes_;
};

std::string unreadable(std::string_view expression) {
  if (trim(expression).empty()) {
    return "the expression is empty";
  }
  if (expression.size() > kLongest) {
    return fmt::format("the expression is longer than {} characters", kLongest);
  }
  const auto printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (!std::all_of(expression.begin(), expression.end(), printable)) {
    return "the expression holds a character that is not printable ASCII";
  }
  return split_expressions(expression).size() > 1
             ? "one expression is wanted, not a list: " + quoted_expression(expression)
             : "";
}

}  // namespace

std::vector<ExpressionNode> parse_expression(std::string_view expression) {
  if (const std::string why = unreadable(expression); !why.empty()) {
    throw ExpressionError(why);
  }
  return Parser(expression).parse();
}

std::vector<std::string> split_expressions(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : list) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  for (std::string& part : parts) {
    part = trim(part);
  }
  return parts;
}

std::string quoted_expression(std::string_view expression) {
  return fmt::format("'{}{}'", expression.substr(0, 100), expression.size() > 100 ? "..." : "");
}

}  // namespace apo
