// harness/implement/variant/expression.h - the integer expressions of a metadata block, e.g.
// "B*ceil_div(H,HEADS_PER_BLOCK)".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/implement/variant/expression_tree.h"

namespace apo {

using Symbols = std::map<std::string, std::int64_t, std::less<>>;  // name -> value; Axes and Settings are Symbols

// Integers only: + - * / % comparisons && || ! c ? a : b parentheses min(a,b,...) max(a,b,...) ceil_div(a,b).
// `/` rounds down and a % b == a - (a / b) * b, so 7/-2 is -4 and 7%-2 is -1. A comparison gives 0 or 1; both sides of
// && and || are always computed. Every number met on the way must be smaller than 2^53 in magnitude. Throws
// ExpressionError.
std::int64_t evaluate(std::string_view expression, const Symbols& symbols);

// The same where a negative result makes no sense (a size, a grid). Throws ExpressionError.
std::int64_t evaluate_size(std::string_view expression, const Symbols& symbols);

// "" when `expression` parses and uses no symbol but `names`; a division by a literal zero is found by evaluate(); else
// one sentence for the user.
std::string check_expression(std::string_view expression, const std::vector<std::string>& names);

}  // namespace apo
