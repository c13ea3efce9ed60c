// harness/core/expression/expression_tree.h - parses the expressions of a metadata block, to be evaluated or
// translates them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/error.h"

namespace apo {

using Integer = std::int64_t;

// The expression does not parse, names an unknown symbol, or has no value: division by zero, a result beyond 2^53.
class ExpressionError : public UserError {
 public:
  using UserError::UserError;
};

// An operator or a function with its name in C++ (expression_cpp.h). `compute` ignores its second number where there is
// one operand; select, c ? a : b, has none.
struct Function {
  std::string_view name;
  std::size_t operands;
  Integer (*compute)(Integer a, Integer b);
  bool divides = false;  // by b, which must not be 0
};

struct ExpressionNode {
  const Function* function = nullptr;     // none: a number or a symbol
  std::size_t column = 0;                 // of its sign, from 1
  std::array<std::size_t, 3> operands{};  // positions of earlier nodes
  Integer number = 0;
  std::string symbol;  // "" for a number
};

// Every number must be smaller than this in magnitude. A double holds such numbers exactly, so any language can compute
// them.
inline constexpr Integer kNumberLimit = Integer{1} << 53;
inline constexpr const char* kTooLarge = "a number reaches 2^53, beyond what is computed exactly";

// Returns the nodes, operands before their users and the whole expression last. Throws ExpressionError with the column.
std::vector<ExpressionNode> parse_expression(std::string_view expression);

// Cuts "B,ceil_div(H,2)" at the commas outside parentheses: {"B", "ceil_div(H,2)"}.
std::vector<std::string> split_expressions(std::string_view list);

// Quotes the expression, and cuts a long one.
std::string quoted_expression(std::string_view expression);

}  // namespace apo
