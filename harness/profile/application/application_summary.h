// harness/profile/application/application_summary.h - computes an application's shares, categories and ceilings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/applications/application_profile.h"
#include "harness/core/pattern.h"

namespace apo {

// Searches a name, ignoring case, in its first 4096 characters only, because std::regex recurses over the text.
class NamePattern {
 public:
  explicit NamePattern(const std::string& pattern);  // ECMAScript; throws UserError
  bool found_in(std::string_view name) const;

 private:
  Pattern expression_;
};

// Ordered rules: the first one that matches a name gives its category; the default is "other".
class Categories {
 public:
  static Categories for_pytorch();
  // Parses {"categories": [{"name": "GEMM", "pattern": "gemm|cutlass"}, ...]}; throws UserError naming `where`.
  static Categories from_json(const std::string& text, const std::string& where);
  const std::string& of(std::string_view name) const;

 private:
  struct Rule {
    std::string name;
    NamePattern pattern;
  };
  std::vector<Rule> rules_;
};

ApplicationSummary summarise(const ApplicationProfile& profile, const Categories& categories);

// Nanoseconds of all work with a matching name.
std::int64_t time_of(const ApplicationSummary& summary, const NamePattern& pattern);

// Returns the share of the application's time that work with a matching name takes: of the span of its GPUs, idle time
// included, or of all work where that is more.
double share_of(const ApplicationSummary& summary, const NamePattern& pattern);

}  // namespace apo
