// harness/implement/object/compiler_names.cpp - reads words and directives, comments and literals left out.
#include "harness/implement/object/compiler_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "harness/core/text.h"

namespace apo {
namespace {

// Beginnings of names that differ between the executor's compiler and a GPU's, whatever they are used for.
constexpr std::string_view kForeign[] = {"APO_CPU",
                                         "__APO",
                                         "__BASE_FILE__",
                                         "__CUDACC_",
                                         "__DATE__",
                                         "__GNU",
                                         "__GXX",
                                         "__NVCC__",
                                         "__OPTIMIZE",
                                         "__SANITIZE",
                                         "__TIME",
                                         "__VERSION__",
                                         "__asan",
                                         "__clang",
                                         "__builtin_FILE",
                                         "__builtin_source_location",
                                         "__has_",
                                         "__tsan",
                                         "__ubsan",
                                         "apo_cpu",
                                         "raw_string_literal",
                                         "source_location"};
// Names that are macros for one of them only, or of another value: no condition may ask for them.
constexpr std::string_view kUnlike[] = {"CUDA_VERSION", "CUDART_VERSION", "blockDim", "blockIdx",  "gridDim",
                                        "linux",        "memcpy",         "memset",   "threadIdx", "unix"};
// The executor gives them the values that they have for a GPU.
constexpr std::string_view kAlike[] = {"__CUDA_ARCH__", "__CUDACC_VER_MAJOR__", "__CUDACC__", "__cplusplus"};

// Stands for a literal whose end is not looked for.
constexpr const char* kRawLiteral = " raw_string_literal";

// A quote behind a number separates its digits.
bool ends_in_number(std::string_view line) {
  std::size_t at = line.size();
  while (at > 0 && is_letter_of_word(line[at - 1])) {
    --at;
  }
  return at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0;
}

// The source's lines with continued ones joined, without comments and literals. A literal ends at the end of its line.
std::vector<std::string> bare_lines(std::string_view source) {
  std::vector<std::string> lines(1);
  char open = 0;  // '*' in a comment, a quote in a literal, '/' up to the line's end
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    const char next = i + 1 < source.size() ? source[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      ++i;
    } else if (c == '\n') {
      open = open == '*' ? open : 0;
      lines.emplace_back();
    } else if (open == '*') {
      open = c == '*' && next == '/' ? 0 : open;
      i += open == 0 ? std::size_t{1} : 0;
    } else if (open == '/') {
      continue;
    } else if (open != 0) {
      i += c == '\\' ? std::size_t{1} : 0;
      open = c == open ? 0 : open;
    } else if (c == '/' && (next == '/' || next == '*')) {
      open = next;
      lines.back() += ' ';
      ++i;
    } else if (c == '"' || (c == '\'' && !ends_in_number(lines.back()))) {
      lines.back() += c == '"' && lines.back().ends_with('R') ? kRawLiteral : "";
      open = c;
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_letter_of_word(line[end])) {
      ++end;
    }
    if (end > at && std::isdigit(static_cast<unsigned char>(line[at])) == 0) {
      words.emplace_back(line.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
  return words;
}

bool is_foreign(std::string_view word) {
  return std::ranges::find(kAlike, word) == std::end(kAlike) &&
         std::ranges::any_of(kForeign, [&](std::string_view begin) { return word.starts_with(begin); });
}

bool is_reserved(std::string_view word) {
  return word.size() > 1 && word[0] == '_' &&
         (word[1] == '_' || std::isupper(static_cast<unsigned char>(word[1])) != 0);
}

bool may_be_asked_for(std::string_view word) {
  return std::ranges::find(kAlike, word) != std::end(kAlike) ||
         (!is_reserved(word) && std::ranges::find(kUnlike, word) == std::end(kUnlike));
}

// The words of a directive, "ifdef" first; empty for another line.
std::vector<std::string> directive(const std::string& line) {
  const std::string text = trim(line);
  return text.starts_with('#') || text.starts_with("%:") ? words_of(text) : std::vector<std::string>{};
}

}  // namespace

std::string asks_for_compiler(std::string_view source) {
  std::vector<std::string> before;  // the directive before this line's
  for (const std::string& line : bare_lines(source)) {
    const std::vector<std::string> words = words_of(line);
    if (const auto found = std::ranges::find_if(words, is_foreign); found != words.end()) {
      return *found;
    }
    const std::vector<std::string> own = directive(line);
    if (own.empty()) {
      continue;
    }
    // A guard's name is looked at when the next directive is known.
    if (before.size() == 2 && before[0] == "ifndef" && !may_be_asked_for(before[1]) &&
        !(own.size() > 1 && own[0] == "define" && own[1] == before[1])) {
      return before[1];
    }
    const bool condition = own[0].starts_with("if") || own[0].starts_with("elif");
    if (condition && own[0] != "ifndef") {
      for (std::size_t i = 1; i < own.size(); ++i) {
        if (!may_be_asked_for(own[i])) {
          return own[i];
        }
      }
    }
    before = own;
  }
  return "";
}

}  // namespace apo
