// harness/implement/includes.cpp - follows #include lines breadth first; for stray ones it joins continued lines, then
// looks at each word that includes.
#include "harness/implement/includes.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>

#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The include line that `line` is; an empty name for any other.
IncludeLine read_include(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(" \t\r\v\f");
  if (hash == std::string_view::npos || line[hash] != '#') {
    return {};
  }
  const std::string text = trim(line.substr(hash + 1));
  const std::size_t open = text.find_first_of("\"<");
  if ((!text.starts_with("include") && !text.starts_with("import")) || open == std::string::npos) {
    return {};
  }
  const bool quoted = text[open] == '"';
  const std::size_t close = text.find(quoted ? '"' : '>', open + 1);
  return close == std::string::npos ? IncludeLine{}
                                    : IncludeLine{.name = text.substr(open + 1, close - open - 1), .quoted = quoted};
}

// Returns whether a block comment is open at the end of the line, given the state at its start.
bool leaves_comment_open(std::string_view line, bool open) {
  if (line.find('/') == std::string_view::npos) {  // most lines, and letters are found fastest
    return open;
  }
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find("/*", at);
    const std::size_t end_of_line = line.find("//", at);
    if (!open && (begin == std::string_view::npos || end_of_line < begin)) {
      return false;
    }
    const std::size_t end = line.find("*/", open ? at : begin + 2);
    if (end == std::string_view::npos) {
      return true;
    }
    open = false;
    at = end + 2;
  }
  return open;
}

// ---------------------------------------------------------------- directives, wherever they stand

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
  const fs::path path = name;
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

std::vector<IncludeLine> include_lines(std::string_view source) {
  std::vector<IncludeLine> found;
  bool in_comment = false;
  int number = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    at = end + 1;
    ++number;
    if (IncludeLine include = in_comment ? IncludeLine{} : read_include(line); !include.name.empty()) {
      include.number = number;
      found.push_back(std::move(include));
    }
    in_comment = leaves_comment_open(line, in_comment);
  }
  return found;
}

std::vector<std::string> included_files(const std::vector<SourceFile>& files, const fs::path& home,
                                        const std::vector<fs::path>& others) {
  std::map<std::string, std::string> found;            // name as seen from home -> contents
  std::deque<std::pair<std::string, fs::path>> queue;  // contents, folder of the includer
  for (const SourceFile& file : files) {
    queue.emplace_back(file.text, home);
  }
  while (!queue.empty()) {
    const auto [contents, folder] = queue.front();
    queue.pop_front();
    for (const auto& [number, name, quoted] : include_lines(contents)) {
      std::vector<fs::path> candidates = {folder / name, home / name};
      for (const fs::path& other : others) {
        candidates.push_back(other / name);
      }
      for (const fs::path& candidate : candidates) {
        std::error_code error;
        const fs::path path = candidate.lexically_normal();
        const std::string key = path.lexically_relative(home).string();
        if (fs::is_regular_file(path, error) && !found.contains(key)) {
          found[key] = read_file(path);
          queue.emplace_back(found[key], path.parent_path());
        }
      }
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, contents] : found) {
    parts.push_back(name);
    parts.push_back(contents);
  }
  return parts;
}

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
