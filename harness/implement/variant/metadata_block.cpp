// harness/implement/variant/metadata_block.cpp - reads a source file line by line up to its first line of code.
#include "harness/implement/variant/metadata_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::string_view kLineForm = "write '// apo:KEY VALUE', e.g. '// apo:target host'";
constexpr std::size_t kLongestValue = 4000;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr std::array<std::string_view, 92> kKeywords = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

void check_text(std::string_view source, const std::string& path) {
  if (trim(source).empty()) {
    throw UserError("'" + path + "' is empty", "give the source file of the variant");
  }
  if (is_utf8(source) && source.find('\0') == std::string_view::npos) {
    return;
  }
  int line = 1;
  for (std::size_t i = 0; i < source.size();) {
    if (source[i] == '\0') {
      throw UserError(fmt::format("'{}' is a binary file (a NUL byte in line {})", path, line),
                      "give the source file of the variant");
    }
    const std::size_t length = utf8_length(source.substr(i, 4));
    if (length == 0) {
      block_error(path, line, "not valid UTF-8", "convert the file, e.g. iconv -f latin1 -t utf8");
    }
    line += source[i] == '\n' ? 1 : 0;
    i += length;
  }
}

// "apo:tune X" of "// apo:tune X"; "" when the comment is an ordinary one. Anything that begins like "apo :" or "APO:"
// was meant as a line of the block, so it comes back as well and is refused. `sign` begins comments.
std::string apo_text(const std::string& line, std::string_view sign) {
  const std::string comment = trim(std::string_view(line).substr(sign.size()));
  std::string start = comment.substr(0, 3);
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t next = comment.find_first_not_of(" \t", 3);
  return start == "apo" && next != std::string::npos && comment[next] == ':' ? comment : "";
}

BlockLine read_line(const std::string& text, int number, const std::string& path) {
  constexpr std::string_view kPrefix = "apo:";
  if (!text.starts_with(kPrefix) || text.size() == kPrefix.size() || !is_letter(text[kPrefix.size()])) {
    block_error(path, number, "malformed metadata line '// " + text + "'", std::string(kLineForm));
  }
  const std::string rest = text.substr(kPrefix.size());
  const std::size_t space = rest.find_first_of(" \t");
  const std::string key = rest.substr(0, space);
  const std::string value = space == std::string::npos ? "" : trim(rest.substr(space));
  if (value.empty()) {
    block_error(path, number, "apo:" + key + " has no value", std::string(kLineForm));
  }
  if (value.size() > kLongestValue) {
    block_error(path, number, fmt::format("apo:{} is longer than {} characters", key, kLongestValue),
                key == "idea" || key == "predict" ? "say it in one sentence"
                : key == "tune"                   ? "list fewer values"
                                                  : "shorten it");
  }
  if (one_line(value) != value) {
    block_error(path, number, "apo:" + key + " holds a control character", "use printable characters and spaces");
  }
  return {.path = path, .number = number, .key = key, .value = value};
}

}  // namespace

void block_error(const std::string& path, int line, const std::string& what, const std::string& hint) {
  throw UserError(fmt::format("{}:{}: {}", path, line, what), hint);
}

std::vector<BlockLine> read_block(std::string_view source, const std::string& path) {
  check_text(source, path);
  if (source.starts_with(kByteOrderMark)) {
    source.remove_prefix(kByteOrderMark.size());
  }
  const std::string_view sign = is_python(source) ? "#" : "//";
  std::vector<BlockLine> block;
  int number = 0;
  int first_code = 0;
  for (const std::string& raw : split(source, '\n')) {
    ++number;
    const std::string line = trim(raw);
    if (!line.empty() && !line.starts_with(sign)) {
      first_code = first_code == 0 ? number : first_code;
      continue;
    }
    const std::string text = line.empty() ? "" : apo_text(line, sign);
    if (text.empty()) {
      continue;
    }
    if (first_code != 0) {
      block_error(path, number, fmt::format("metadata line after the code that starts in line {}", first_code),
                  fmt::format("move every '{} apo:' line to the top of the file", sign));
    }
    block.push_back(read_line(text, number, path));
  }
  return block;
}

void check_keys(const std::vector<BlockLine>& block, const std::vector<std::string>& known,
                const std::vector<std::string>& repeatable) {
  for (const BlockLine& line : block) {
    if (std::ranges::find(known, line.key) == known.end()) {
      const std::string guess = did_you_mean(line.key, known);
      line.fail("unknown key 'apo:" + line.key + "'", guess.empty() ? "the keys: " + join(known, ", ") : guess);
    }
    const BlockLine& first = *std::ranges::find(block, line.key, &BlockLine::key);
    if (first.number != line.number && std::ranges::find(repeatable, line.key) == repeatable.end()) {
      line.fail(fmt::format("apo:{} is repeated (first in line {})", line.key, first.number),
                "keep one of the two lines");
    }
  }
}

bool is_cpp_keyword(std::string_view word) {
  return std::ranges::find(kKeywords, word) != kKeywords.end();
}

bool is_short_name(std::string_view text) {
  return is_identifier(text) && text.size() <= 64;
}

}  // namespace apo
