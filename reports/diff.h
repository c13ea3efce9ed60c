// reports/diff.h - what one source changed in another, as a unified diff.
#pragma once

#include <string>

namespace apo::report {

struct NamedSource {
  std::string name;
  std::string text;
};

// "" when the texts are the same. Runs `diff -u`; without that program one line that says so.
std::string unified_diff(const NamedSource& before, const NamedSource& after);

}  // namespace apo::report
