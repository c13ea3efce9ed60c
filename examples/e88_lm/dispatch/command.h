// dispatch/command.h - runs a compiler, and keeps what it wrote.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace byte_lm {

struct Ran {
  int status = 0;      // 0: done
  std::string output;  // both streams
};

// Without a shell of the caller's: the words are quoted.
Ran run_command(const std::vector<std::string>& words);

// The file that `command` writes when "-o FILE" is put behind it. It is kept in the cache (E88_LM_CACHE, or e88_lm/ in
// the user's cache folder) under a hash of `key`, which holds all that the file depends on, and found there the next
// time. Throws std::runtime_error with the compiler's log.
std::filesystem::path built(const std::vector<std::string>& command, const std::vector<std::string>& key);

}  // namespace byte_lm
