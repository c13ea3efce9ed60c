// harness/cli/help_format.cpp - one option: its value, its description, what goes with it.
#include "harness/cli/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kNameColumns = 28;
constexpr std::size_t kMostNamed = 3;

// CLI11 writes "INT:INT in [1 - 100]", "TEXT:{check}" and "FILE:FILE".
std::string value_text(const CLI::Option& option) {
  const std::string full = option.get_type_name();
  const std::size_t colon = full.find(':');
  const std::string type = full.substr(0, colon);
  const std::string check = colon == std::string::npos ? "" : full.substr(colon + 1);
  if (check.starts_with("{")) {
    return check;
  }
  const std::size_t range = check.find(" in [");
  const std::size_t dash = check.find(" - ", range);
  if (range == std::string::npos || dash == std::string::npos || !check.ends_with("]")) {
    return type;
  }
  const std::string least = check.substr(range + 5, dash - range - 5);
  return fmt::format("{} ({} to {})", type, least, check.substr(dash + 3, check.size() - dash - 4));
}

// " (not with --a, --b)", or nothing.
std::string named(const char* what, const std::set<CLI::Option*>& others) {
  std::vector<std::string> names;
  for (const CLI::Option* other : others) {
    names.push_back(other->get_name());
  }
  std::ranges::sort(names);
  return names.empty() || names.size() > kMostNamed ? "" : fmt::format(" ({} {})", what, join(names, ", "));
}

std::string wrapped(const std::string& text, std::size_t columns) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string& word : split_words(text)) {
    const bool fits = used + 1 + word.size() <= columns;
    lines += used == 0 ? word : (fits ? " " : "\n") + word;
    used = fits && used > 0 ? used + 1 + word.size() : word.size();
  }
  return lines;
}

}  // namespace

HelpFormat::HelpFormat() {
  column_width(kNameColumns);
}

// A flag that clears a variable is called "--name{false}".
std::string HelpFormat::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string name = CLI::Formatter::make_option_name(option, is_positional);
  return option->get_type_size() == 0 ? name.substr(0, name.find('{')) : name;
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) {
    return "";
  }
  const bool repeats = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  return " " + value_text(*option) + (repeats ? " ..." : "") + (option->get_required() ? " (required)" : "");
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (const std::string word = option->get_default_str(); !word.empty()) {
    text += fmt::format(" ({}: {})", option->get_expected_min() == 0 ? "alone" : "default", word);
  }
  const bool own_group = option->get_group() != "Options" && !option->get_positional();
  text += own_group ? "" : named("with", option->get_needs());
  return wrapped(text + named("not with", option->get_excludes()), kColumns - kNameColumns);
}

}  // namespace apo
