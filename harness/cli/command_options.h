// harness/cli/command_options.h - the options by which `apo compare` and `apo gate` judge two commands, and their text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/loop/commands/command_comparisons.h"

namespace CLI {
class Option;
}

namespace apo {

struct CommandOptions {
  std::string command_a;
  std::string command_b;
  std::string metric;
  std::string correct;
  std::string timeout;
  std::string budget;
  std::string target = "auto";
  int runs = 1;
  bool higher_is_better = false;
  bool lower_is_better = false;
  bool given() const { return !command_a.empty() || !command_b.empty(); }
};

// `others`: options that mean nothing for commands, so that giving both is refused.
void add_command_options(CLI::App& app, CommandOptions& options, const std::vector<CLI::Option*>& others);

// Throws UserError for a half of a pair, and for words that are not what they should be.
CommandRequest command_request(const CommandOptions& options, CommandPurpose purpose, const std::string& judge,
                               const std::string& layout);

// The number of "c3"; nullopt for anything else.
std::optional<std::int64_t> command_number(const std::string& word);

// "seconds: 1.2 s -> 1.1 s; 56 runs, 1 min 10 s"; the sentence about correctness, and the verdict.
std::string command_comparison_text(const CommandComparison& comparison);
// Prints the same, and every run.
std::string command_comparison_in_full(const CommandComparison& comparison);

}  // namespace apo
