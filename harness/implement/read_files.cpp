// harness/implement/read_files.cpp - parses make rules, and resolves folders to real paths.
#include "harness/implement/read_files.h"

#include <algorithm>

namespace apo {
namespace fs = std::filesystem;
namespace {

bool lies_in(const fs::path& file, const fs::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : found;
}

}  // namespace

std::vector<std::string> read_dependencies(std::string_view rule) {
  const std::size_t colon = rule.find(": ");
  std::vector<std::string> files;
  std::string word;
  for (std::size_t i = colon == std::string_view::npos ? rule.size() : colon + 2; i <= rule.size(); ++i) {
    const char c = i < rule.size() ? rule[i] : '\n';
    const bool escaped = c == '\\' && i + 1 < rule.size();
    if (escaped && rule[i + 1] == '\n') {
      ++i;  // the rule goes on
    } else if ((escaped && (rule[i + 1] == ' ' || rule[i + 1] == '#')) || (c == '$' && rule.substr(i, 2) == "$$")) {
      word += rule[++i];
    } else if (c != ' ' && c != '\n' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      files.push_back(std::move(word));
      word.clear();
    }
  }
  return files;
}

std::string foreign_file(const std::vector<std::string>& files, const ReadableFolders& readable) {
  const fs::path draft = real(readable.draft);
  std::set<fs::path> known;  // a home may consist of links
  for (const std::string& name : readable.known) {
    const fs::path inside = fs::path(name).lexically_normal();
    known.insert(real(readable.home / inside));
  }
  for (const std::string& name : files) {
    const fs::path file = real(readable.draft / name);
    const bool of_compiler =
        std::ranges::any_of(readable.compilers, [&](const fs::path& folder) { return lies_in(file, real(folder)); });
    if (!lies_in(file, draft) && !of_compiler && !known.contains(file)) {
      return file.string();
    }
  }
  return "";
}

}  // namespace apo
