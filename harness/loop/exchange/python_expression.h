// harness/loop/exchange/python_expression.h - a definition's expressions over axes, as those of a metadata block.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct TranslatedExpression {
  std::string text;
  std::vector<std::string> conditions;  // under which `/` and `//` are the same
};

// True for a text within one pair of parentheses, false for "(a) == (b)".
bool is_wrapped(std::string_view text);

// Python's + - * / // % ** (by a literal), comparisons (one after the other is refused), and, or, not, parentheses and
// names, of which `name_text` gives the text. Throws std::invalid_argument that says what is not understood.
TranslatedExpression translate_python(std::string_view python,
                                      const std::function<std::string(const std::string&)>& name_text);

}  // namespace apo
