// harness/implement/includes.cpp - follows #include lines breadth first.
#include "harness/implement/includes.h"

#include <algorithm>
#include <deque>
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

}  // namespace apo
