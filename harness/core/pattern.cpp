// harness/core/pattern.cpp - wraps std::regex.
#include "harness/core/pattern.h"

#include <iterator>
#include <regex>

namespace apo {
namespace {

using TextPlace = std::string_view::const_iterator;
using Matched = std::match_results<TextPlace>;

PatternMatch pattern_match_of(const Matched& found, TextPlace text) {
  PatternMatch match{.groups = {},
                     .begin = static_cast<std::size_t>(found[0].first - text),
                     .end = static_cast<std::size_t>(found[0].second - text)};
  for (const auto& group : found) {
    match.groups.push_back(group.matched ? std::optional(group.str()) : std::nullopt);
  }
  return match;
}

}  // namespace

struct Pattern::Expression {
  std::regex regex;
};

Pattern::Pattern(const std::string& expression, PatternCase letters) {
  const auto ignored = letters == PatternCase::ignored ? std::regex::icase : std::regex::flag_type{};
  try {
    expression_ =
        std::make_shared<const Expression>(Expression{std::regex(expression, std::regex::ECMAScript | ignored)});
  } catch (const std::regex_error& error) {
    throw PatternError(error.what());
  }
}

std::size_t Pattern::groups() const {
  return expression_->regex.mark_count();
}

std::optional<PatternMatch> Pattern::match(std::string_view text) const {
  Matched found;
  return std::regex_match(text.begin(), text.end(), found, expression_->regex)
             ? std::optional(pattern_match_of(found, text.begin()))
             : std::nullopt;
}

std::optional<PatternMatch> Pattern::search(std::string_view text) const {
  Matched found;
  return std::regex_search(text.begin(), text.end(), found, expression_->regex)
             ? std::optional(pattern_match_of(found, text.begin()))
             : std::nullopt;
}

std::vector<PatternMatch> Pattern::all(std::string_view text) const {
  std::vector<PatternMatch> all;
  const std::regex_iterator<TextPlace> end;
  for (std::regex_iterator<TextPlace> found(text.begin(), text.end(), expression_->regex); found != end; ++found) {
    all.push_back(pattern_match_of(*found, text.begin()));
  }
  return all;
}

std::string Pattern::replace(std::string_view text, const std::string& by) const {
  std::string replaced;
  std::regex_replace(std::back_inserter(replaced), text.begin(), text.end(), expression_->regex, by);
  return replaced;
}

}  // namespace apo
