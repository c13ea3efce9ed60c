// harness/core/expression/expression.cpp - evaluates integer expressions and reports undefined results.
#include "harness/core/expression/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"

namespace apo {
namespace {

// The value of a node, or why it has none. That reaches the result only where the result depends on it: a branch of
// c ? a : b that is not taken may have none.
struct Value {
  Integer number = 0;
  const char* missing = nullptr;
  std::size_t column = 0;  // of what has no value
};

Value checked(Integer number, std::size_t column) {
  const bool fits = number < kNumberLimit && number > -kNumberLimit;
  return {.number = number, .missing = fits ? nullptr : kTooLarge, .column = column};
}

Value value_of(const ExpressionNode& node, const std::vector<Value>& values, const Symbols& symbols) {
  if (node.function == nullptr) {
    return checked(node.symbol.empty() ? node.number : symbols.find(node.symbol)->second, node.column);
  }
  const Value& a = values[node.operands[0]];
  if (a.missing != nullptr) {
    return a;
  }
  if (node.function->compute == nullptr) {
    return values[node.operands[a.number != 0 ? 1 : 2]];
  }
  const Value& b = node.function->operands == 1 ? a : values[node.operands[1]];
  if (b.missing != nullptr) {
    return b;
  }
  if (node.function->divides && b.number == 0) {
    return {.number = 0, .missing = "division by zero", .column = node.column};
  }
  return checked(node.function->compute(a.number, b.number), node.column);
}

// "" when the nodes use no symbol but `names`.
std::string unknown_symbol(const std::vector<ExpressionNode>& nodes, const std::vector<std::string>& names) {
  for (const ExpressionNode& node : nodes) {
    if (!node.symbol.empty() && std::find(names.begin(), names.end(), node.symbol) == names.end()) {
      const std::string hint = did_you_mean(node.symbol, names);
      return fmt::format("unknown symbol '{}'{} (known: {})", node.symbol, hint.empty() ? "" : ", " + hint,
                         join(names, ", "));
    }
  }
  return "";
}

void check_symbols(std::string_view expression, const std::vector<ExpressionNode>& nodes,
                   const std::vector<std::string>& names) {
  if (const std::string why = unknown_symbol(nodes, names); !why.empty()) {
    throw ExpressionError(why + " in " + quoted_expression(expression));
  }
}

}  // namespace

std::string check_expression(std::string_view expression, const std::vector<std::string>& names) {
  try {
    check_symbols(expression, parse_expression(expression), names);
    return "";
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

std::int64_t evaluate(std::string_view expression, const Symbols& symbols) {
  const std::vector<ExpressionNode> nodes = parse_expression(expression);
  const bool all_known = std::ranges::all_of(
      nodes, [&](const ExpressionNode& node) { return node.symbol.empty() || symbols.contains(node.symbol); });
  if (!all_known) {
    std::vector<std::string> names;
    for (const auto& [name, value] : symbols) {
      names.push_back(name);
    }
    check_symbols(expression, nodes, names);
  }
  std::vector<Value> values;
  for (const ExpressionNode& node : nodes) {
    values.push_back(value_of(node, values, symbols));
  }
  const Value& result = values.back();
  if (result.missing != nullptr) {
    throw ExpressionError(
        fmt::format("{} in {} (character {})", result.missing, quoted_expression(expression), result.column));
  }
  return result.number;
}

std::int64_t evaluate_size(std::string_view expression, const Symbols& symbols) {
  const std::int64_t size = evaluate(expression, symbols);
  if (size < 0) {
    throw ExpressionError(fmt::format("{} is {}, but a size cannot be negative", quoted_expression(expression), size));
  }
  return size;
}

}  // namespace apo
