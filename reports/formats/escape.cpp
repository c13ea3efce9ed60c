// reports/formats/escape.cpp - replaces characters with a meaning in each format.
#include "reports/formats/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>

#include "harness/core/text.h"

namespace apo::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// XML has no place for the last two.
bool is_allowed(std::string_view character) {
  return character == "\n" || character == "\t" ||
         (control_length(character) == 0 && character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF");
}

bool alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & '\x80') != 0;
}

std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char d : text) {
    run = d == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// At the start of a paragraph or list item these would begin a block of their own: "# ", "- ", "---", "1. ", "> ", "[
// ]".
std::size_t block_marker(std::string_view text) {
  const auto ends_marker = [&](std::size_t i) { return i == text.size() || text[i] == ' ' || text[i] == text[0]; };
  if (text.empty()) {
    return std::string_view::npos;
  }
  if (text[0] == '>' || text[0] == '[' ||
      (std::string_view("#-+=").find(text[0]) != std::string_view::npos && ends_marker(1))) {
    return 0;
  }
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool ordered = digits > 0 && digits < text.size() && (text[digits] == '.' || text[digits] == ')') &&
                       (digits + 1 == text.size() || text[digits + 1] == ' ');
  return ordered ? digits : std::string_view::npos;
}

// Whether the bracket at i could end a link's text; what follows the text itself is unknown.
bool may_link(std::string_view text, std::size_t i) {
  return text[i] == ']' &&
         (i + 1 == text.size() || std::string_view("([:").find(text[i + 1]) != std::string_view::npos);
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text.substr(0, 4));
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (character == "\r") {
      result += text.starts_with("\r\n") ? "" : "\n";
    } else {
      result += length > 0 && is_allowed(character) ? character : kReplacement;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : clean_text(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') {
    result.pop_back();
  }
  return result;
}

std::string escape_xml(std::string_view text) {
  static const std::map<char, std::string_view> kEntities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char c : clean_text(text)) {
    const auto entity = kEntities.find(c);
    result += entity == kEntities.end() ? std::string_view(&c, 1) : entity->second;
  }
  return result;
}

std::string escape_markdown(std::string_view text) {
  const std::string line = one_line(text);
  const std::size_t marker = block_marker(line);
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    // An underscore inside a word is never emphasis, so names stay readable.
    const bool inside_word = i > 0 && i + 1 < line.size() && alphanumeric(line[i - 1]) && alphanumeric(line[i + 1]);
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (std::string_view("\\`*|~$").find(c) != std::string_view::npos || (c == '_' && !inside_word) ||
               may_link(line, i) || i == marker) {
      result += '\\';
      result += c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty()) {
    return "";
  }
  // A pipe ends the cell of a table even inside a code span, and only a table would undo its escape.
  if (line.find_first_of("|`") != std::string::npos) {
    return "<code>" + escape_markdown(line) + "</code>";
  }
  return "`" + line + "`";
}

std::string markdown_code_block(std::string_view text) {
  const std::string body = clean_text(text);
  const std::string fence(std::max<std::size_t>(3, longest_run(body, '`') + 1), '`');
  return fence + "\n" + body + (body.empty() || body.back() == '\n' ? "" : "\n") + fence + "\n";
}

std::string csv_field(std::string_view text) {
  std::string body = clean_text(text);
  if (!body.empty() && std::string_view("=+-@\t").find(body[0]) != std::string_view::npos) {
    body.insert(body.begin(), '\'');
  }
  if (body.find_first_of(",\"\r\n") == std::string::npos) {
    return body;
  }
  std::string result = "\"";
  for (const char c : body) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + "\"";
}

std::string csv_field(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

}  // namespace apo::report
