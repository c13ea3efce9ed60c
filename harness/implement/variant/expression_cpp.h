// harness/implement/variant/expression_cpp.h - translates the expressions of a metadata block to C++17 with the same
// values.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace apo {

// Returns the C++ text that translated expressions need: struct Number, which carries "has a value" with the value, and
// one constexpr function per operator. Plain text without includes (it uses std::int64_t), for use inside a namespace.
std::string_view cpp_arithmetic();

// Returns C++ text of type Number. It has a value exactly where evaluate() returns one, and then the same. `symbol`
// gives the C++ text, of type Number, of a name. Throws ExpressionError like evaluate().
std::string to_cpp(std::string_view expression, const std::function<std::string(std::string_view)>& symbol);

// Returns a string literal of these bytes in printable ASCII; no quote, line end or trigraph can end it.
std::string cpp_literal(std::string_view text);

}  // namespace apo
