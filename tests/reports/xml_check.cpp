// tests/reports/xml_check.cpp - see xml_check.h.
#include "tests/reports/xml_check.h"

#include <vector>

#include "harness/core/pattern.h"

namespace apo::report {
namespace {

std::string text_problem(const std::string& text) {
  static const Pattern entity("&(?!(amp|lt|gt|quot|#[0-9]+);)");
  const auto found = entity.search(text);
  return found ? "bare '&' before: " + text.substr(found->end, 30) : "";
}

std::string tag_problem(const std::string& tag, std::vector<std::string>& open) {
  static const Pattern shape("(/?)([A-Za-z][A-Za-z0-9]*)((?: [A-Za-z][A-Za-z0-9:-]*=\"[^\"<]*\")*)(/?)");
  const auto match = shape.match(tag);
  if (!match) {
    return "malformed tag: " + tag;
  }
  const PatternMatch& parts = *match;
  if (!parts[1].empty()) {
    if (open.empty() || open.back() != parts[2]) {
      return "unexpected </" + parts[2] + ">";
    }
    open.pop_back();
  } else if (parts[4].empty()) {
    open.push_back(parts[2]);
  }
  static const Pattern not_finite("=\"[^\"]*\\b(nan|inf)\\b[^\"]*\"");
  const std::string attributes = parts[3];
  return not_finite.found_in(attributes) ? "not finite: " + tag : text_problem(attributes);
}

}  // namespace

std::string xml_problem(const std::string& text) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t start = text.find('<', at);
    const std::string before = text.substr(at, start == std::string::npos ? std::string::npos : start - at);
    if (const std::string problem = text_problem(before); !problem.empty()) {
      return problem;
    }
    if (start == std::string::npos) {
      break;
    }
    const std::size_t end = text.find('>', start);
    if (end == std::string::npos) {
      return "a tag does not end";
    }
    if (const std::string problem = tag_problem(text.substr(start + 1, end - start - 1), open); !problem.empty()) {
      return problem;
    }
    at = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> does not close";
}

}  // namespace apo::report
