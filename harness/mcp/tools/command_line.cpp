// harness/mcp/tools/command_line.cpp - every value is checked before it becomes a word.
#include "harness/mcp/tools/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"

namespace apo::mcp {
namespace {

constexpr std::size_t kLongestWord = 4096;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : line_of(value);
}

std::string checked_word(const std::string& name, const Json& value) {
  std::string word = text_of(value);
  const bool control =
      std::ranges::any_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control || word.empty() || word.size() > kLongestWord) {
    throw UserError(fmt::format("'{}' {}", name,
                                control        ? "holds a control character"
                                : word.empty() ? "is empty"
                                               : "is longer than 4096 bytes"));
  }
  return word;
}

std::string checked_position(const std::string& name, const Json& value) {
  std::string word = checked_word(name, value);
  if (word.starts_with('-')) {
    throw UserError(fmt::format("'{}' begins with a dash: '{}'", name, word),
                    "options are arguments of their own; the tool's schema lists them");
  }
  return word;
}

// Joins the names in quotes.
std::string quoted(std::vector<std::string> names, std::string_view separator) {
  std::ranges::transform(names, names.begin(), [](const std::string& name) { return "'" + name + "'"; });
  return join(names, separator);
}

void check_one_given(const Json& arguments, const std::vector<std::string>& names) {
  std::vector<std::string> given;
  std::ranges::copy_if(names, std::back_inserter(given), [&](const auto& name) { return arguments.contains(name); });
  if (given.size() != 1) {
    throw UserError(given.empty() ? "neither " + quoted(names, " nor ") + " was given"
                                  : quoted(given, " and ") + " were given together",
                    "give the candidate as one of " + quoted(names, ", "));
  }
}

}  // namespace

CommandWords::CommandWords(const std::string& command, const Json& arguments, const Root& root)
    : arguments_(arguments), root_(root), line_{.words = {command}} {}

CommandWords& CommandWords::position(const std::string& name) {
  if (arguments_.contains(name)) {
    const Json& value = arguments_[name];
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      line_.words.push_back(checked_position(name, one));
    }
  }
  return *this;
}

CommandWords& CommandWords::option(const std::string& name) {
  if (arguments_.contains(name)) {
    line_.words.push_back("--" + replace_all(name, "_", "-") + "=" + checked_word(name, arguments_[name]));
  }
  return *this;
}

CommandWords& CommandWords::flag(const std::string& name) {
  if (arguments_.value(name, false)) {
    line_.words.push_back("--" + replace_all(name, "_", "-"));
  }
  return *this;
}

CommandWords& CommandWords::candidate(const std::string& word) {
  check_one_given(arguments_, {"path", "source"});
  return file(word);
}

CommandWords& CommandWords::candidate_or_variant(const std::string& word) {
  check_one_given(arguments_, {"path", "source", "variant"});
  return arguments_.contains("variant") ? position("variant") : file(word);
}

CommandWords& CommandWords::file(const std::string& word) {
  if (arguments_.contains("path")) {
    line_.words.push_back(word + root_.file(checked_word("path", arguments_["path"])));
    return *this;
  }
  line_.input = text_of(arguments_["source"]);
  if (line_.input.empty() || line_.input.size() > kLongestCandidate) {
    throw UserError(line_.input.empty() ? "'source' is empty" : "'source' is longer than 1 MiB",
                    "give the text of one source file");
  }
  line_.words.push_back(word + "-");
  return *this;
}

}  // namespace apo::mcp
