// harness/implement/variant/expression_cpp.h - translates the expressions of a metadata block to C++17 with the same
// values.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace apo {

// What translated expressions need: struct Number, which carries "has a value" with the value, and one constexpr
// function an operator. Plain text without includes (it uses std::int64_t), to be put into a namespace.
std::string_view cpp_arithmetic();

// C++ text of type Number. It has a value exactly where evaluate() returns one, and then the same. `symbol` gives the
// C++ text, of type Number, of a name. Throws ExpressionError for what evaluate() does not take either.
std::string to_cpp(std::string_view expression, const std::function<std::string(std::string_view)>& symbol);

// A string literal of these bytes, printable ASCII whatever they are; no quote, line end or trigraph gets out of it.
std::string cpp_literal(std::string_view text);

}  // namespace apo
