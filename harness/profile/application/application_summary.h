// harness/profile/application/application_summary.h - computes an application's shares, categories and ceilings.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/recording/application_profile.h"

namespace apo {

// "(anonymous namespace)::scale(float*)" for "_ZN12_GLOBAL__N_15scaleEPf"; other text as it is.
std::string demangled(const std::string& name);

// Searched for in a name, ignoring case; only in its first 4096 characters, since std::regex recurses over the text.
class NamePattern {
 public:
  explicit NamePattern(const std::string& pattern);  // ECMAScript; throws UserError
  bool found_in(std::string_view name) const;

 private:
  std::regex expression_;
};

// Ordered rules: the first that is found in a name gives the category, else it is "other".
class Categories {
 public:
  static Categories for_pytorch();
  // {"categories": [{"name": "GEMM", "pattern": "gemm|cutlass"}, ...]}; throws UserError naming `where`.
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

// The part of the application's time that the work whose name has the pattern takes: of the span of its GPUs, idle time
// included, or of all work where that is more.
double share_of(const ApplicationSummary& summary, const NamePattern& pattern);

}  // namespace apo
