// harness/core/pattern.h - regular expressions; those of the standard library are compiled here alone, because each of
// its users would take three seconds to compile them again.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct PatternError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Group 0 is all that matched; a group that took no part is empty.
struct PatternMatch {
  std::vector<std::optional<std::string>> groups;
  std::size_t begin = 0;  // in the text
  std::size_t end = 0;
  bool has(std::size_t group) const { return groups[group].has_value(); }
  std::string operator[](std::size_t group) const { return groups[group].value_or(""); }
};

enum class PatternCase { exact, ignored };

// An ECMAScript expression.
class Pattern {
 public:
  // Throws PatternError.
  explicit Pattern(const std::string& expression, PatternCase letters = PatternCase::exact);

  std::size_t groups() const;  // without group 0
  bool matches(std::string_view text) const { return match(text).has_value(); }
  bool found_in(std::string_view text) const { return search(text).has_value(); }
  std::optional<PatternMatch> match(std::string_view text) const;   // the whole text
  std::optional<PatternMatch> search(std::string_view text) const;  // the first
  std::vector<PatternMatch> all(std::string_view text) const;
  std::string replace(std::string_view text, const std::string& by) const;  // every match; $1 is a group

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
};

}  // namespace apo
