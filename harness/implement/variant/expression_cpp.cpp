// harness/implement/variant/expression_cpp.cpp - a parser of the same grammar as expression.cpp that writes C++ calls.
//
// Operators become calls because C++ differs in all that matters: / rounds to zero there, == binds less tightly than <,
// && skips its right side, and an overflow is undefined.
#include "harness/implement/variant/expression_cpp.h"

#include <array>
#include <utility>
#include <vector>

#include "harness/implement/variant/expression.h"

namespace apo {
namespace {

constexpr int kDeepest = 200;  // nested parentheses, operators and conditions

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_name(char letter) {
  return is_digit(letter) || letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

struct Operation {
  std::string_view sign;
  std::string_view function;
};

// From the loosest binding to the tightest; within a level from the left. A longer sign stands before its beginning.
const std::array<std::vector<Operation>, 5>& levels() {
  static const std::array<std::vector<Operation>, 5> kLevels = {{
      {{"||", "logical_or"}},
      {{"&&", "logical_and"}},
      {{"<=", "less_equal"},
       {">=", "greater_equal"},
       {"==", "equal"},
       {"!=", "not_equal"},
       {"<", "less"},
       {">", "greater"}},
      {{"+", "add"}, {"-", "subtract"}},
      {{"*", "multiply"}, {"/", "divide"}, {"%", "modulo"}},
  }};
  return kLevels;
}

class Translator {
 public:
  Translator(std::string_view text, const std::function<std::string(std::string_view)>& symbol)
      : text_(text), symbol_(symbol) {}

  std::string translate() {
    std::string result = condition(0);
    if (next() != '\0') {
      fail("an operator");
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    throw ExpressionError("'" + std::string(text_.substr(0, 100)) + "' cannot be written as C++: " + wanted +
                          " is wanted at character " + std::to_string(at_ + 1));
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(std::string_view sign) {
    next();
    if (!text_.substr(at_).starts_with(sign)) {
      return false;
    }
    at_ += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) {
      fail("'" + std::string(sign) + "'");
    }
  }

  std::string condition(int depth) {
    std::string first = binary(0, depth);
    if (!take("?")) {
      return first;
    }
    std::string yes = condition(depth + 1);
    expect(":");
    return "select(" + first + ", " + yes + ", " + condition(depth + 1) + ")";
  }

  std::string binary(std::size_t level, int depth) {
    if (level == levels().size()) {
      return operand(depth);
    }
    std::string left = binary(level + 1, depth);
    for (const Operation* found = operation(level); found != nullptr; found = operation(level)) {
      left = std::string(found->function) + "(" + left + ", " + binary(level + 1, depth) + ")";
    }
    return left;
  }

  const Operation* operation(std::size_t level) {
    for (const Operation& one : levels()[level]) {
      if (take(one.sign)) {
        return &one;
      }
    }
    return nullptr;
  }

  std::string operand(int depth) {
    if (depth > kDeepest) {
      fail("an expression that is nested less deeply");
    }
    for (const Operation& sign : {Operation{"-", "negate"}, Operation{"!", "logical_not"}}) {
      if (take(sign.sign)) {
        if (next() == '-' || next() == '!') {
          fail("one sign, or a bracket,");  // as in evaluate()
        }
        return std::string(sign.function) + "(" + operand(depth + 1) + ")";
      }
    }
    if (take("(")) {
      std::string inner = condition(depth + 1);
      expect(")");
      return inner;
    }
    const std::string_view word = name_or_number();
    if (is_digit(word.front())) {
      return "number(" + std::to_string(evaluate(word, {})) + ")";
    }
    return take("(") ? call(word, depth) : symbol_(word);
  }

  std::string_view name_or_number() {
    next();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) {
      ++at_;
    }
    if (at_ == begin) {
      fail("a name, a number or '('");
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string call(std::string_view function, int depth) {
    std::vector<std::string> arguments = {condition(depth + 1)};
    while (take(",")) {
      arguments.push_back(condition(depth + 1));
    }
    expect(")");
    if (function == "ceil_div" && arguments.size() == 2) {
      return "ceil_div(" + arguments[0] + ", " + arguments[1] + ")";
    }
    if (function != "min" && function != "max") {
      fail("min, max, or ceil_div of two numbers, before this bracket,");
    }
    std::string result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      result = (function == "min" ? "minimum(" : "maximum(") + result + ", " + arguments[i] + ")";
    }
    return result;
  }

  std::string_view text_;
  const std::function<std::string(std::string_view)>& symbol_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view cpp_arithmetic() {
  return R"text(// An integer below 2^53 in magnitude, or none: what follows from a number that is too large or a division by zero.
struct Number {
  std::int64_t value = 0;
  bool known = false;
};

constexpr std::int64_t kLargest = 9007199254740991;  // 2^53 - 1
constexpr Number number(std::int64_t value) {
  return value >= -kLargest && value <= kLargest ? Number{value, true} : Number{};
}
constexpr bool known(Number a, Number b) { return a.known && b.known; }
constexpr Number truth(Number a, Number b, bool value) { return known(a, b) ? number(value ? 1 : 0) : Number{}; }
constexpr bool holds(Number a) { return a.known && a.value != 0; }
constexpr std::int64_t magnitude(std::int64_t a) { return a < 0 ? -a : a; }
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

constexpr Number add(Number a, Number b) { return known(a, b) ? number(a.value + b.value) : Number{}; }
constexpr Number subtract(Number a, Number b) { return known(a, b) ? number(a.value - b.value) : Number{}; }
constexpr Number multiply(Number a, Number b) {
  const bool fits = known(a, b) && (a.value == 0 || magnitude(b.value) <= kLargest / magnitude(a.value));
  return fits ? number(a.value * b.value) : Number{};
}
constexpr Number divide(Number a, Number b) {
  return known(a, b) && b.value != 0 ? number(floor_divide(a.value, b.value)) : Number{};
}
constexpr Number modulo(Number a, Number b) {
  return known(a, b) && b.value != 0 ? number(a.value - floor_divide(a.value, b.value) * b.value) : Number{};
}
constexpr Number ceil_div(Number a, Number b) {
  return known(a, b) && b.value != 0 ? number(-floor_divide(-a.value, b.value)) : Number{};
}
constexpr Number negate(Number a) { return a.known ? number(-a.value) : Number{}; }
constexpr Number less(Number a, Number b) { return truth(a, b, a.value < b.value); }
constexpr Number less_equal(Number a, Number b) { return truth(a, b, a.value <= b.value); }
constexpr Number greater(Number a, Number b) { return truth(a, b, a.value > b.value); }
constexpr Number greater_equal(Number a, Number b) { return truth(a, b, a.value >= b.value); }
constexpr Number equal(Number a, Number b) { return truth(a, b, a.value == b.value); }
constexpr Number not_equal(Number a, Number b) { return truth(a, b, a.value != b.value); }
constexpr Number logical_and(Number a, Number b) { return truth(a, b, a.value != 0 && b.value != 0); }
constexpr Number logical_or(Number a, Number b) { return truth(a, b, a.value != 0 || b.value != 0); }
constexpr Number logical_not(Number a) { return truth(a, a, a.value == 0); }
constexpr Number minimum(Number a, Number b) { return known(a, b) ? (b.value < a.value ? b : a) : Number{}; }
constexpr Number maximum(Number a, Number b) { return known(a, b) ? (b.value > a.value ? b : a) : Number{}; }
constexpr Number select(Number a, Number yes, Number no) { return a.known ? (a.value != 0 ? yes : no) : Number{}; }
)text";
}

std::string to_cpp(std::string_view expression, const std::function<std::string(std::string_view)>& symbol) {
  return Translator(expression, symbol).translate();
}

std::string cpp_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\' || letter == '?') {  // \? keeps ??/ from being a backslash
      literal += '\\';
      literal += letter;
    } else if (byte >= 0x20 && byte < 0x7f) {
      literal += letter;
    } else {  // always three octal digits, so that a digit may follow
      literal += '\\';
      literal += static_cast<char>('0' + byte / 64);
      literal += static_cast<char>('0' + byte / 8 % 8);
      literal += static_cast<char>('0' + byte % 8);
    }
  }
  return literal + "\"";
}

}  // namespace apo
