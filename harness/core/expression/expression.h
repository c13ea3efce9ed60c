// harness/core/expression/expression.h - the integer expressions of a metadata block, e.g.
// "B*ceil_div(H,HEADS_PER_BLOCK)".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/expression/expression_tree.h"

namespace apo {

using Symbols = std::map<std::string, std::int64_t, std::less<>>;  // name -> value; Axes and Settings are Symbols

// Integers only: + - * / % comparisons && || ! c ? a : b parentheses min(a,b,...) max(a,b,...) ceil_div(a,b)
// next_pow2(a).
// `/` rounds down and a % b == a - (a / b) * b, so 7/-2 is -4 and 7%-2 is -1. A comparison gives 0 or 1; both sides of
// && and || are always computed. Every number met on the way must be smaller than 2^53 in magnitude. Throws
// ExpressionError.
std::int64_t evaluate(std::string_view expression, const Symbols& symbols);

// The same for sizes and grids: throws ExpressionError for a negative result too.
std::int64_t evaluate_size(std::string_view expression, const Symbols& symbols);

// Returns "" when `expression` parses and uses no symbol but `names`, else one sentence for the user. evaluate() finds
// a division by a literal zero.
std::string check_expression(std::string_view expression, const std::vector<std::string>& names);

}  // namespace apo
