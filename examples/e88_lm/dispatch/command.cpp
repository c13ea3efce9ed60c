// dispatch/command.cpp - a file of the cache is whole or absent: built beside its place and renamed.
#include "dispatch/command.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "model/random.h"

namespace byte_lm {
namespace fs = std::filesystem;
namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return text + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + quoted(word);
  }
  return line;
}

fs::path cache_folder() {
  for (const auto& [variable, below] :
       {std::pair{"E88_LM_CACHE", ""}, {"XDG_CACHE_HOME", "e88_lm"}, {"HOME", ".cache/e88_lm"}}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') {
      return fs::path(folder) / below;
    }
  }
  return fs::temp_directory_path() / ("e88_lm-" + std::to_string(getuid()));
}

std::string name_of(const std::vector<std::string>& key) {
  std::uint64_t hash = 0;
  for (const std::string& part : key) {
    hash = mix(hash ^ hash_of(part)) + part.size();
  }
  std::array<char, 17> text = {};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

Ran run_command(const std::vector<std::string>& words) {
  const std::string line = joined(words) + " 2>&1 < /dev/null";
  Ran ran;
  std::FILE* pipe = popen(line.c_str(), "re");
  if (pipe == nullptr) {
    throw std::runtime_error("can't run " + line);
  }
  std::array<char, 4096> part = {};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    ran.output.append(part.data(), count);
  }
  ran.status = pclose(pipe);
  return ran;
}

fs::path built(const std::vector<std::string>& command, const std::vector<std::string>& key) {
  const fs::path file = cache_folder() / name_of(key);
  if (fs::exists(file)) {
    return file;
  }
  fs::create_directories(file.parent_path());
  const fs::path beside = file.string() + "." + std::to_string(getpid());
  std::vector<std::string> words = command;
  words.insert(words.end(), {"-o", beside.string()});
  const Ran ran = run_command(words);
  if (ran.status != 0) {
    throw std::runtime_error(joined(words) + " failed:\n" + ran.output);
  }
  fs::rename(beside, file);
  return file;
}

}  // namespace byte_lm
