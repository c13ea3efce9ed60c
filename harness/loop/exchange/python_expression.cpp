// harness/loop/exchange/python_expression.cpp - a recursive descent, one function for each level of precedence.
#include "harness/loop/exchange/python_expression.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr int kDeepest = 100;
constexpr std::int64_t kLargestPower = 8;

std::vector<std::string> tokens_of(const std::string& python) {
  static const Pattern kToken(R"(\s*(\d+|[A-Za-z_]\w*|\*\*|//|[=!<>]=|[-+*/%()<>])\s*)");
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < python.size();) {
    const auto match = kToken.match_start(python, begin);
    if (!match) {
      throw std::invalid_argument("'" + python.substr(begin) + "' is not understood");
    }
    tokens.push_back((*match)[1]);
    begin = match->end;
  }
  return tokens;
}

class Translation {
 public:
  Translation(const std::string& python, const std::function<std::string(const std::string&)>& name_text)
      : tokens_(tokens_of(python)), name_text_(name_text) {}

  TranslatedExpression all() {
    std::string text = disjunction();
    if (next_ != tokens_.size()) {
      throw std::invalid_argument("'" + tokens_[next_] + "' is not expected");
    }
    return {.text = std::move(text), .conditions = std::move(conditions_)};
  }

 private:
  const std::string& peek() const {
    static const std::string kEnd;
    return next_ < tokens_.size() ? tokens_[next_] : kEnd;
  }
  bool take(std::string_view token) {
    const bool found = next_ < tokens_.size() && tokens_[next_] == token;
    next_ += found ? 1 : 0;
    return found;
  }

  std::string disjunction() {
    std::string text = conjunction();
    while (take("or")) {
      text += " || " + conjunction();
    }
    return text;
  }

  std::string conjunction() {
    std::string text = negation();
    while (take("and")) {
      text += " && " + negation();
    }
    return text;
  }

  std::string negation() {
    if (!take("not")) {
      return comparison();
    }
    const std::string text = negation();
    return is_wrapped(text) ? "!" + text : "!(" + text + ")";
  }

  std::string comparison() {
    static constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<=", ">=", "<", ">"};
    const auto compares = [&] { return std::ranges::find(kComparisons, peek()) != kComparisons.end(); };
    std::string text = sum();
    if (compares()) {
      const std::string comparison = tokens_[next_++];
      text += " " + comparison + " " + sum();
    }
    if (compares()) {
      throw std::invalid_argument("a chain of comparisons is not understood");
    }
    return text;
  }

  std::string sum() {
    std::string text = product();
    while (peek() == "+" || peek() == "-") {
      const std::string sign = tokens_[next_++];
      text += sign + product();
    }
    return text;
  }

  std::string product() {
    std::string text = factor();
    while (peek() == "*" || peek() == "/" || peek() == "//" || peek() == "%") {
      const std::string operation = tokens_[next_++];
      const std::string right = factor();
      if (operation == "/") {
        conditions_.push_back(text + "%" + right + " == 0");
      }
      text += (operation == "//" ? "/" : operation) + right;
    }
    return text;
  }

  std::string factor() {
    if (++depth_ > kDeepest) {
      throw std::invalid_argument("it is nested too deeply");
    }
    std::string text = take("-") ? "-" + factor() : take("+") ? factor() : power();
    --depth_;
    return text;
  }

  std::string power() {
    const std::string base = atom();
    if (!take("**")) {
      return base;
    }
    const std::int64_t exponent = parse_int(peek()).value_or(0);
    if (exponent < 1 || exponent > kLargestPower) {
      throw std::invalid_argument("'**' is understood with a literal of 1 to 8");
    }
    ++next_;
    return "(" + join(std::vector<std::string>(static_cast<std::size_t>(exponent), base), "*") + ")";
  }

  std::string atom() {
    if (take("(")) {
      std::string inner = disjunction();
      if (!take(")")) {
        throw std::invalid_argument("a ')' is missing");
      }
      return "(" + inner + ")";
    }
    const std::string& token = peek();
    if (is_identifier(token) && token != "and" && token != "or" && token != "not") {
      return name_text_(tokens_[next_++]);
    }
    if (!parse_int(token)) {
      throw std::invalid_argument(token.empty() ? "it ends too early" : "'" + token + "' is not expected");
    }
    return tokens_[next_++];
  }

  std::vector<std::string> tokens_;
  const std::function<std::string(const std::string&)>& name_text_;
  std::size_t next_ = 0;
  int depth_ = 0;
  std::vector<std::string> conditions_;
};

}  // namespace

bool is_wrapped(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) {
      return i > 0 && i + 1 == text.size();
    }
  }
  return false;
}

TranslatedExpression translate_python(std::string_view python,
                                      const std::function<std::string(const std::string&)>& name_text) {
  return Translation(std::string(python), name_text).all();
}

}  // namespace apo
