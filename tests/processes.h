// tests/processes.h - reads /proc, where a process may end between any two steps.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/core/text.h"

namespace apo::testing {

inline std::vector<int> all_processes() {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (const auto pid = parse_int(entry.path().filename().string())) {
      found.push_back(static_cast<int>(*pid));
    }
  }
  return found;
}

// Empty where the process has ended. The stream takes the error that reading gives then; an iterator would throw it.
inline std::string process_file(int pid, const std::string& name) {
  std::ostringstream contents;
  contents << std::ifstream("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary).rdbuf();
  return contents.str();
}

}  // namespace apo::testing
