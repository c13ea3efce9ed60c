// harness/mcp/tools/command_line.h - turns the arguments of a tool into the words of a command of this program.
#pragma once

#include <string>
#include <vector>

#include "harness/mcp/protocol/message.h"
#include "harness/mcp/tools/root.h"

namespace apo::mcp {

struct CommandLine {
  std::vector<std::string> words;  // after "apo"
  std::string input;               // given on standard input
};

// Adds argument by argument; those that were not given add nothing. A value never becomes an option: it stands behind
// "--name=", or begins with no dash. Throws UserError for a value that cannot be a word.
class CommandWords {
 public:
  CommandWords(const std::string& command, const Json& arguments, const Root& root);
  CommandWords& position(const std::string& name);              // a string, or a list of strings
  CommandWords& option(const std::string& name);                // at_least becomes --at-least=VALUE
  CommandWords& flag(const std::string& name);                  // --name where it is true
  CommandWords& candidate(const std::string& word);             // `path` or `source`, behind "--file=" say
  CommandWords& candidate_or_variant(const std::string& word);  // or `variant`, by itself
  CommandLine line() const { return line_; }

 private:
  CommandWords& file(const std::string& word);
  const Json& arguments_;
  const Root& root_;
  CommandLine line_;
};

}  // namespace apo::mcp
