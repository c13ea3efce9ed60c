// harness/implement/compile.h - one run of the host compiler: its limits, its log, its first error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

using Words = std::vector<std::string>;

// What is kept of a compiler's log.
inline constexpr std::size_t kLongestLog = std::size_t{256} << 10;

Words joined(Words left, const Words& right);

struct CompileStep {
  bool ok = false;
  std::string log;
  std::string evidence;  // one sentence when it failed
  bool timed_out = false;
};

// Runs `command` in `folder`, with a limit on its memory. Throws EnvironmentError when it is this machine that fails.
CompileStep run_step(const Words& command, const std::filesystem::path& folder, double timeout_s);

// The same sentence with the whole path of the variant's file, or of its header, where it begins with the name.
std::string in_users_words(std::string evidence, const Variant& variant);

// The first line of a compiler's output that is an error, else its first line.
std::string first_error(const std::string& log);

}  // namespace apo
