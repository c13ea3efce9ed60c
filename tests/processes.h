// tests/processes.h - reads /proc, where a process may end between any two steps.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
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

// Command lines of the running processes that this one has started, with spaces between their words.
inline std::vector<std::string> own_children() {
  std::vector<std::string> found;
  for (const int pid : all_processes()) {
    const std::string stat = process_file(pid, "stat");
    const std::size_t end = stat.rfind(") ");
    if (end != std::string::npos && stat[end + 2] != 'Z' &&
        split(stat.substr(end + 2), ' ').at(1) == std::to_string(getpid())) {
      std::string line = process_file(pid, "cmdline");
      std::ranges::replace(line, '\0', ' ');
      found.push_back(line);
    }
  }
  return found;
}

// One that has ended and that nobody has waited for yet counts as ended.
inline bool is_running(int pid) {
  const std::string stat = process_file(pid, "stat");
  const std::size_t end = stat.rfind(") ");
  return end != std::string::npos && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

inline bool has_child_with(const std::string& words) {
  return std::ranges::any_of(own_children(), [&](const auto& line) { return line.find(words) != std::string::npos; });
}

// How long a test waits for what comes about on every machine, however slow or busy.
inline constexpr std::chrono::minutes kPatience{10};

// Looks every ten milliseconds. False where it has not come about in that time.
template <class Condition>
bool comes_about(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// The result of `run`, which takes a time limit in seconds. That is doubled until what it runs has come as far as
// writing `file`: how long this takes is a matter of the machine.
template <class Run>
auto within_a_limit_that_suffices_for(const std::filesystem::path& file, const Run& run) {
  for (double limit_s = 0.5;; limit_s *= 2) {
    auto result = run(limit_s);
    if (std::filesystem::exists(file)) {
      return result;
    }
  }
}

}  // namespace apo::testing
