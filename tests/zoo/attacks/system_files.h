// tests/zoo/attacks/system_files.h - some thousand files that everybody may read, in a fixed order.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

static const std::vector<std::string>& system_files() {
  static const std::vector<std::string> files = [] {
    namespace fs = std::filesystem;
    std::vector<std::string> found;
    std::error_code error;
    for (fs::recursive_directory_iterator entry("/usr/share", error), end;
         !error && entry != end && found.size() < 8192; entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) {
        found.push_back(entry->path().string());
      }
    }
    std::ranges::sort(found);
    return found;
  }();
  return files;
}
