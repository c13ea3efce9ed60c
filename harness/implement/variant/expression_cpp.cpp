// harness/implement/variant/expression_cpp.cpp - writes an expression as calls of C++ functions.
//
// Operators become calls because C++ differs in all that matters: / rounds to zero there, == binds less tightly than <,
// && skips its right side, and an overflow is undefined.
#include "harness/implement/variant/expression_cpp.h"

#include <fmt/format.h>

#include <vector>

#include "harness/core/expression/expression_tree.h"

namespace apo {
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
constexpr Number next_pow2(Number a) {
  std::int64_t power = 1;
  while (a.known && power < a.value) {
    power *= 2;
  }
  return a.known ? number(power) : Number{};
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
  std::vector<std::string> texts;
  for (const ExpressionNode& node : parse_expression(expression)) {
    if (node.function == nullptr) {
      texts.push_back(node.symbol.empty() ? fmt::format("number({})", node.number) : symbol(node.symbol));
      continue;
    }
    std::string text = fmt::format("{}({}", node.function->name, texts[node.operands[0]]);
    for (std::size_t i = 1; i < node.function->operands; ++i) {
      text += ", " + texts[node.operands[i]];
    }
    texts.push_back(text + ")");
  }
  return texts.back();
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
