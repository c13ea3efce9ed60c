// harness/implement/include_names.cpp - joins continued lines, then looks at each word that includes.
#include "harness/implement/include_names.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include "harness/core/text.h"

namespace apo {
namespace {

// The text with continued lines joined and digraph and trigraph of '#' written as '#'.
struct JoinedText {
  std::string text;
  std::vector<std::size_t> joints;  // where a line's end was left out
  int line_at(std::size_t place) const {
    const auto ends = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    return static_cast<int>(1 + ends + (std::ranges::upper_bound(joints, place) - joints.begin()));
  }
};

// The length of a line's end that joins it with the next one, blanks included; 0: none begins here.
std::size_t join_length(std::string_view text) {
  std::size_t at = text.starts_with('\\') ? 1 : text.starts_with("?\?/") ? 3 : 0;
  if (at == 0) {
    return 0;
  }
  at = std::min(text.find_first_not_of(" \t\r", at), text.size());
  return at < text.size() && text[at] == '\n' ? at + 1 : 0;
}

// Returns the place of the next '\\', '%' or '?'. A loop of its own, because find_first_of calls memchr for each
// letter.
std::size_t next_special(std::string_view source, std::size_t at) {
  const char* const letters = source.data();
  while (at < source.size() && letters[at] != '\\' && letters[at] != '%' && letters[at] != '?') {
    ++at;
  }
  return at;
}

JoinedText joined_text(std::string_view source) {
  JoinedText result;
  if (source.find('\\') == std::string_view::npos && source.find("%:") == std::string_view::npos &&
      source.find("?\?") == std::string_view::npos) {  // most sources
    result.text = source;
    return result;
  }
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t special = next_special(source, at);
    result.text += source.substr(at, special - at);
    const std::string_view rest = source.substr(special);
    if (const std::size_t length = join_length(rest); length > 0) {
      result.joints.push_back(result.text.size());
      at = special + length;
      continue;
    }
    const std::size_t hash = rest.starts_with("%:") ? 2 : rest.starts_with("?\?=") ? 3 : 0;
    result.text += hash > 0 ? "#" : rest.substr(0, 1);
    at = special + std::max<std::size_t>(hash, 1);
  }
  return result;
}

// Past blanks and block comments.
std::size_t next_token(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\v' || text[at] == '\f') {
      ++at;
    } else if (text.substr(at).starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

bool leads_elsewhere(const std::string& name) {
  const std::filesystem::path path = name;
  for (const auto& part : path) {
    if (part == "..") {
      return true;
    }
  }
  return path.is_absolute();
}

// Returns "<NAME>" or "\"NAME\"" at `at`, else the rest of the line.
std::string operand_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return "";
  }
  const char close = text[at] == '<' ? '>' : text[at] == '"' ? '"' : '\n';
  const std::size_t end = std::min(text.find(close, at + 1), text.find('\n', at));
  return std::string(text.substr(at, end == std::string_view::npos || close == '\n' ? end - at : end - at + 1));
}

bool is_plain_name(const std::string& operand) {
  return operand.size() > 2 && (operand.front() == '<' || operand.front() == '"') &&
         !leads_elsewhere(operand.substr(1, operand.size() - 2));
}

// Returns the end of the next '#', or of a comment behind one; npos if there is none.
std::size_t next_hash(std::string_view text, std::size_t at) {
  const std::size_t hash = text.find('#', at);
  const std::size_t comment = text.substr(0, std::min(hash, text.size())).find("*/", at);
  return comment != std::string_view::npos ? comment + 2 : hash == std::string_view::npos ? hash : hash + 1;
}

// Calls `found` with the place of each of the words that stands as a directive, and with that of what follows it.
template <class Found>
void each_directive(std::string_view text, std::initializer_list<std::string_view> words, const Found& found) {
  for (std::size_t hash = next_hash(text, 0); hash != std::string_view::npos; hash = next_hash(text, hash)) {
    const std::size_t at = std::min(text.find_first_not_of(" \t\r\v\f", hash), text.size());
    std::size_t end = at;
    while (end < text.size() && is_letter_of_word(text[end])) {
      ++end;
    }
    if (std::ranges::find(words, text.substr(at, end - at)) != words.end()) {
      found(at, next_token(text, end));
    }
  }
}

// Each definition of the macro has to be a plain name, and there has to be one.
bool is_plain_macro(std::string_view all, std::string_view name) {
  bool is_defined = false;
  bool is_plain = true;
  each_directive(all, {"define"}, [&](std::size_t, std::size_t at) {
    std::size_t end = at;
    while (end < all.size() && is_letter_of_word(all[end])) {
      ++end;
    }
    if (all.substr(at, end - at) == name) {
      is_defined = true;
      is_plain = is_plain && is_plain_name(operand_at(all, next_token(all, end)));
    }
  });
  return is_defined && is_plain;
}

}  // namespace

std::optional<StrayInclude> stray_include(std::string_view source, std::string_view all,
                                          const std::set<std::string>& looked_up) {
  const JoinedText own = joined_text(source);
  std::optional<StrayInclude> stray;
  each_directive(own.text, {"include", "include_next", "import", "embed"}, [&](std::size_t at, std::size_t place) {
    const std::string operand = operand_at(own.text, place);
    const bool named = operand.starts_with('<') || operand.starts_with('"');
    const bool is_fine = operand.empty() || operand == "<" || operand == "\"" ||
                         (named ? is_plain_name(operand) || looked_up.contains(operand)
                                : is_plain_macro(joined_text(all).text, trim(operand)));
    const int line = is_fine ? 0 : own.line_at(at);
    if (!is_fine && (!stray || line < stray->line)) {
      stray = StrayInclude{.line = line, .what = operand};
    }
  });
  return stray;
}

}  // namespace apo
