// harness/implement/compile.h - one run of the host compiler: its limits, its log, its first error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

using Words = std::vector<std::string>;

// The limit on the stored part of a compiler's log.
inline constexpr std::size_t kLongestLog = std::size_t{256} << 10;

Words joined(Words left, const Words& right);

struct CompileStep {
  bool ok = false;
  std::string log;
  std::string evidence;  // one sentence when it failed
  bool timed_out = false;
};

// Runs `command` in `folder`, with a limit on its memory. Throws EnvironmentError when this machine is at fault, and
// Cancelled after a stop.
CompileStep run_step(const Words& command, const std::filesystem::path& folder, double timeout_s,
                     const std::stop_token& stop = {});

// Replaces the name of the variant's file, or of its header, at the begin of the sentence by the whole path.
std::string in_users_words(std::string evidence, const Variant& variant);

// Returns the first line of a compiler's output that is an error, else its first line.
std::string first_error(const std::string& log);

}  // namespace apo
