// tests/reports/xml_check.cpp - see xml_check.h.
#include "tests/reports/xml_check.h"

#include <regex>
#include <vector>

namespace apo::report {
namespace {

std::string text_problem(const std::string& text) {
  static const std::regex entity("&(?!(amp|lt|gt|quot|#[0-9]+);)");
  std::smatch found;
  return std::regex_search(text, found, entity) ? "bare '&' before: " + found.suffix().str().substr(0, 30) : "";
}

std::string tag_problem(const std::string& tag, std::vector<std::string>& open) {
  static const std::regex shape("(/?)([A-Za-z][A-Za-z0-9]*)((?: [A-Za-z][A-Za-z0-9:-]*=\"[^\"<]*\")*)(/?)");
  std::smatch parts;
  if (!std::regex_match(tag, parts, shape)) {
    return "malformed tag: " + tag;
  }
  if (parts[1].length() > 0) {
    if (open.empty() || open.back() != parts[2].str()) {
      return "unexpected </" + parts[2].str() + ">";
    }
    open.pop_back();
  } else if (parts[4].length() == 0) {
    open.push_back(parts[2].str());
  }
  static const std::regex not_finite("=\"[^\"]*\\b(nan|inf)\\b[^\"]*\"");
  const std::string attributes = parts[3].str();
  return std::regex_search(attributes, not_finite) ? "not finite: " + tag : text_problem(attributes);
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
