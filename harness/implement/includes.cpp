// harness/implement/includes.cpp - follows #include lines breadth first.
#include "harness/implement/includes.h"

#include <deque>
#include <map>

#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The name in `#include "name"` or `#include <name>`, "" for any other line.
std::string included_name(const std::string& line) {
  std::string text = trim(line);
  if (!text.starts_with('#')) {
    return "";
  }
  text = trim(std::string_view(text).substr(1));
  constexpr std::string_view kWord = "include";
  const std::size_t open = text.find_first_of("\"<");
  if (!text.starts_with(kWord) || open == std::string::npos) {
    return "";
  }
  const std::size_t close = text.find_first_of("\">", open + 1);
  return close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

}  // namespace

std::vector<std::string> included_files(const std::string& source, const fs::path& home) {
  std::map<std::string, std::string> found;                               // name as seen from home -> contents
  std::deque<std::pair<std::string, fs::path>> queue = {{source, home}};  // contents, folder of the includer
  while (!queue.empty()) {
    const auto [contents, folder] = queue.front();
    queue.pop_front();
    for (const std::string& line : split(contents, '\n')) {
      const std::string name = included_name(line);
      for (const fs::path& candidate : {folder / name, home / name}) {
        std::error_code error;
        const fs::path path = candidate.lexically_normal();
        const std::string key = path.lexically_relative(home).string();
        if (!name.empty() && fs::is_regular_file(path, error) && !found.contains(key)) {
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
