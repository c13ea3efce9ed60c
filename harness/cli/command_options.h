// harness/cli/command_options.h - the options by which `apo compare` and `apo gate` judge two commands.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/comparisons/comparison.h"

namespace CLI {
class Option;
}

namespace apo {

struct CommandOptions {
  ProgramComparison asked;
  std::string timeout;
  std::string budget;
  std::string target = "auto";
  bool given() const { return !asked.a.empty() || !asked.b.empty(); }
};

// `others`: options and names that mean nothing for commands, so that giving both is refused. --target excludes the
// options alone: the names may be those of another comparison of programs.
void add_command_options(CLI::App& app, CommandOptions& options, const std::vector<CLI::Option*>& others);

// Throws UserError for a half of a pair, and for words that are not what they should be.
ProgramComparison asked_of(const CommandOptions& options, ComparisonPurpose purpose, const std::string& judge,
                           const std::string& layout);

}  // namespace apo
