// harness/implement/variant/expression.cpp - evaluates exact integer arithmetic with muParser's parser.
//
// muParser computes in double. Exactness: every literal and every symbol is an integer below 2^53, every operator is
// one of ours, and each checks its result. Where the true result of + - * is below 2^53 the double result is that
// integer; where it is not, the rounded result is not below 2^53 either, so the check never misses. / and % are done
// in int64_t. Of muParser's own functions,
// constants and operators only c ? a : b is left in, which computes nothing.
#include "harness/implement/variant/expression.h"

#include <muParserBase.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr double kLimit = 0x1p53;
constexpr std::size_t kLongest = 4096;

// What an operator throws; evaluate() and check_expression() add which expression it was.
class ArithmeticError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

double exact(double value) {
  if (!(std::fabs(value) < kLimit)) {  // this form also catches NaN
    throw ArithmeticError("a number reaches 2^53, beyond what is computed exactly");
  }
  return value;
}

std::int64_t integer(double value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) {
    throw ArithmeticError("division by zero");
  }
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

double add(double a, double b) {
  return exact(a + b);
}
double subtract(double a, double b) {
  return exact(a - b);
}
double multiply(double a, double b) {
  return exact(a * b);
}
double divide(double a, double b) {
  return exact(static_cast<double>(floor_divide(integer(a), integer(b))));
}
double modulo(double a, double b) {
  const std::int64_t quotient = floor_divide(integer(a), integer(b));
  return exact(static_cast<double>(integer(a) - quotient * integer(b)));
}
double ceil_div(double a, double b) {
  return exact(static_cast<double>(-floor_divide(-integer(a), integer(b))));
}
double negate(double a) {
  return 0 - a;  // not -a: there is no negative zero among integers
}
double less(double a, double b) {
  return a < b ? 1 : 0;
}
double less_equal(double a, double b) {
  return a <= b ? 1 : 0;
}
double greater(double a, double b) {
  return a > b ? 1 : 0;
}
double greater_equal(double a, double b) {
  return a >= b ? 1 : 0;
}
double equal(double a, double b) {
  return integer(a) == integer(b) ? 1 : 0;
}
double not_equal(double a, double b) {
  return integer(a) != integer(b) ? 1 : 0;
}
double logical_and(double a, double b) {
  return integer(a) != 0 && integer(b) != 0 ? 1 : 0;
}
double logical_or(double a, double b) {
  return integer(a) != 0 || integer(b) != 0 ? 1 : 0;
}
double logical_not(double a) {
  return integer(a) == 0 ? 1 : 0;
}
double minimum(const double* values, int count) {
  return *std::min_element(values, values + count);
}
double maximum(const double* values, int count) {
  return *std::max_element(values, values + count);
}

// Digits only: "1.5", "1e3" and "0x10" are left half read, which muParser then refuses.
int read_literal(const char* text, int* position, double* value) {
  int length = 0;
  double number = 0;
  while (text[length] >= '0' && text[length] <= '9') {
    number = exact(number * 10 + (text[length] - '0'));
    ++length;
  }
  *position += length;
  *value = number;
  return length > 0 ? 1 : 0;
}

class IntegerParser : public mu::ParserBase {
 public:
  IntegerParser() {
    InitCharSets();
    AddValIdent(read_literal);
    InitFun();
    InitOprt();
  }
  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*/%<>=!&|");
    DefineInfixOprtChars("-!");
  }
  void InitFun() override {
    DefineFun("min", minimum);
    DefineFun("max", maximum);
    DefineFun("ceil_div", ceil_div);
  }
  void InitConst() override {}
  void InitOprt() override {
    EnableBuiltInOprt(false);
    DefineOprt("||", logical_or, mu::prLOR);
    DefineOprt("&&", logical_and, mu::prLAND);
    DefineOprt("<", less, mu::prCMP);
    DefineOprt("<=", less_equal, mu::prCMP);
    DefineOprt(">", greater, mu::prCMP);
    DefineOprt(">=", greater_equal, mu::prCMP);
    DefineOprt("==", equal, mu::prCMP);
    DefineOprt("!=", not_equal, mu::prCMP);
    DefineOprt("+", add, mu::prADD_SUB);
    DefineOprt("-", subtract, mu::prADD_SUB);
    DefineOprt("*", multiply, mu::prMUL_DIV);
    DefineOprt("/", divide, mu::prMUL_DIV);
    DefineOprt("%", modulo, mu::prMUL_DIV);
    constexpr int kBindsTightest = mu::prPOW + 1;
    DefineInfixOprt("-", negate, kBindsTightest);
    DefineInfixOprt("!", logical_not, kBindsTightest);
  }
};

std::string quoted(std::string_view expression) {
  const bool cut = expression.size() > 100;
  return std::string("'").append(expression.substr(0, 100)).append(cut ? "...'" : "'");
}

std::string unreadable(std::string_view expression) {
  if (trim(expression).empty()) {
    return "the expression is empty";
  }
  if (expression.size() > kLongest) {
    return "the expression is longer than " + std::to_string(kLongest) + " characters";
  }
  const auto printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (!std::all_of(expression.begin(), expression.end(), printable)) {
    return "the expression holds a character that is not printable ASCII";
  }
  // muParser computes all of "a,b" and keeps the last one.
  return split_expressions(expression).size() > 1 ? "one expression is wanted, not a list: " + quoted(expression) : "";
}

std::string unknown_symbol(const mu::varmap_type& used, const std::vector<std::string>& names) {
  for (const auto& [name, address] : used) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string hint = did_you_mean(name, names);
      return "unknown symbol '" + name + "'" + (hint.empty() ? "" : ", " + hint) + " (known: " + join(names, ", ") +
             ")";
    }
  }
  return "";
}

}  // namespace

std::string check_expression(std::string_view expression, const std::vector<std::string>& names) {
  if (const std::string why = unreadable(expression); !why.empty()) {
    return why;
  }
  try {
    IntegerParser parser;
    parser.SetExpr(std::string(expression));
    const std::string why = unknown_symbol(parser.GetUsedVar(), names);
    return why.empty() ? "" : why + " in " + quoted(expression);
  } catch (const mu::ParserError& error) {
    return quoted(expression) + " does not parse: " + error.GetMsg();
  } catch (const ArithmeticError& error) {  // a literal that is too large
    return std::string(error.what()) + " in " + quoted(expression);
  }
}

std::int64_t evaluate(std::string_view expression, const Symbols& symbols) {
  std::vector<std::string> names;
  for (const auto& [name, value] : symbols) {
    names.push_back(name);
  }
  if (const std::string why = check_expression(expression, names); !why.empty()) {
    throw ExpressionError(why);
  }
  try {
    std::map<std::string, double, std::less<>> values;
    IntegerParser parser;
    for (const auto& [name, value] : symbols) {
      values[name] = exact(static_cast<double>(value));
      parser.DefineVar(name, &values[name]);
    }
    parser.SetExpr(std::string(expression));
    return integer(exact(parser.Eval()));
  } catch (const mu::ParserError& error) {
    throw ExpressionError(quoted(expression) + " has no value: " + error.GetMsg());
  } catch (const ArithmeticError& error) {
    throw ExpressionError(std::string(error.what()) + " in " + quoted(expression));
  }
}

std::int64_t evaluate_size(std::string_view expression, const Symbols& symbols) {
  const std::int64_t size = evaluate(expression, symbols);
  if (size < 0) {
    throw ExpressionError(quoted(expression) + " is " + std::to_string(size) + ", but a size cannot be negative");
  }
  return size;
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

}  // namespace apo
