// harness/implement/compile.h - one run of the host compiler: its limits, its log, its first error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace apo {

using Words = std::vector<std::string>;

Words joined(Words left, const Words& right);

struct CompileStep {
  bool ok = false;
  std::string log;
  std::string evidence;  // one sentence when it failed
};

// Runs `command` in `folder`, with a limit on its memory. Throws EnvironmentError when it is this machine that fails.
CompileStep run_step(const Words& command, const std::filesystem::path& folder, double timeout_s);

// Names the user's file where the compiler named `source`, our copy of it.
std::string in_users_words(std::string evidence, const std::string& source, const std::string& path);

// The first line of a compiler's output that is an error, else its first line.
std::string first_error(const std::string& log);

}  // namespace apo
