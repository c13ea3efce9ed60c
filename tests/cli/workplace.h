// tests/cli/workplace.h - runs the real program in a folder of its own.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// A fresh working directory: no journal, nothing registered. What all of them build is kept in one cache.
class Workplace {
 public:
  Workplace() : folder_("apo-cli-test") {}
  // A command that hangs has exit code -1. `timeout_s`: what it takes at most on an idle machine.
  Ran apo(const std::vector<std::string>& words, double timeout_s = 60) const;
  Ran apo_with_environment(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                           double timeout_s = 60) const;
  Ran apo_with_input(const std::vector<std::string>& words, const std::string& input, double timeout_s = 60) const;
  // Another program in the same place, where "apo" is the one that the build made.
  Ran program(const std::vector<std::string>& words, double timeout_s = 60) const;
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& contents) const;
  // A right variant of family copy under another name.
  static std::string variant(const std::string& name);

 private:
  Ran run(const std::vector<std::string>& words, const std::vector<std::string>& environment, const std::string& input,
          double timeout_s) const;
  TemporaryFolder folder_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to);

// The only document on stdout; a test failure and null when there is anything else.
nlohmann::json only_document(const Ran& ran);

}  // namespace apo
