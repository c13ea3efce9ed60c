// reports/formats/escape.cpp - replaces characters with a meaning in each format.
#include "reports/formats/escape.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace apo::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

struct Decoded {
  std::uint32_t point = 0;
  std::size_t length = 0;  // 0: not valid UTF-8
};

Decoded decode(std::string_view text, std::size_t i) {
  const unsigned char lead = byte_at(text, i);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) {
    return {};
  }
  std::uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    const unsigned char next = byte_at(text, i + k);
    if ((next & 0xC0U) != 0x80U) {
      return {};
    }
    point = (point << 6) | (next & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return overlong || surrogate || point > 0x10FFFF ? Decoded{} : Decoded{point, length};
}

bool allowed(std::uint32_t point) {
  if (point < 0x20) {
    return point == '\n' || point == '\t';
  }
  const bool control = point >= 0x7F && point <= 0x9F;
  const bool reorders = point == 0x200E || point == 0x200F || point == 0x061C || (point >= 0x202A && point <= 0x202E) ||
                        (point >= 0x2066 && point <= 0x2069);
  const bool line_break = point == 0x2028 || point == 0x2029;
  const bool not_a_character = (point & 0xFFFEU) == 0xFFFEU || (point >= 0xFDD0 && point <= 0xFDEF);
  return !control && !reorders && !line_break && !not_a_character;
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
  for (std::size_t i = 0; i < text.size();) {
    const Decoded decoded = decode(text, i);
    if (decoded.point == '\r' && decoded.length == 1) {
      result += i + 1 < text.size() && text[i + 1] == '\n' ? "" : "\n";
    } else if (decoded.length == 0 || !allowed(decoded.point)) {
      result += kReplacement;
    } else {
      result += text.substr(i, decoded.length);
    }
    i += std::max<std::size_t>(decoded.length, 1);
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
  std::string result;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
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

std::string shell_word(std::string_view text) {
  const std::string word = one_line(text);
  const auto plain = [](char c) {
    return alphanumeric(c) || std::string_view("_-./:=,").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
    return word;
  }
  std::string result = "'";
  for (const char c : word) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

}  // namespace apo::report
