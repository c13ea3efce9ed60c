// harness/families/known_families.cpp - finds family files and remembers them by name.
#include "harness/families/known_families.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/system/files.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

std::map<std::string, FamilyFile, std::less<>>& known_files() {
  static std::map<std::string, FamilyFile, std::less<>> files;
  return files;
}

std::vector<fs::path> registered_files(const fs::path& registered) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(registered, error)) {
    const fs::path file = entry.path() / (entry.path().filename().string() + ".h");
    if (fs::is_regular_file(file, error)) {
      found.push_back(file);
    }
  }
  std::ranges::sort(found);
  return found;
}

void add(FamilyFile file, const OracleOptions& options) {
  if (find_family(file.name) != nullptr) {
    throw UserError("'" + file.path + "': there is already a family '" + file.name + "'",
                    "give it another name, or retire the other one with 'apo unregister " + file.name + "'");
  }
  add_family(family_of(file, options));
  known_files().emplace(file.name, std::move(file));
}

}  // namespace

std::vector<FamilyProblem> add_known_families(const fs::path& registered, const OracleOptions& options) {
  std::vector<fs::path> paths = files_below(options.home / "kernels");
  std::erase_if(paths, [](const fs::path& path) { return path.extension() != ".h"; });
  std::ranges::copy(registered_files(registered), std::back_inserter(paths));
  std::vector<FamilyProblem> problems;
  for (const fs::path& path : paths) {
    try {
      if (is_family_file(read_file(path))) {
        add(load_family_file(path.string()), options);
      }
    } catch (const UserError& error) {
      problems.push_back({.path = path.string(), .what = error.what(), .hint = error.hint()});
    }
  }
  return problems;
}

void add_family_file(const std::string& path, const OracleOptions& options) {
  add(load_family_file(path), options);
}

const FamilyFile* find_family_file(std::string_view name) {
  const auto found = known_files().find(name);
  return found == known_files().end() ? nullptr : &found->second;
}

}  // namespace apo
