// tests/project/markdown.h - what a document tells its reader to type: commands in ```sh blocks, and what it mentions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct DocumentCommand {
  int line = 0;      // where it starts, from 1
  std::string text;  // continuation lines joined, prompt removed
  bool runs = true;  // false in a block tagged `sh norun: reason`, and for tests/run
};

// One word of a command: `apo compare A B --rounds=20` mentions the subcommand compare and the option --rounds.
struct Mention {
  int line = 0;
  std::string subcommand;  // "" for an option of no particular command, as in `--json`
  std::string option;      // "" when only the subcommand is mentioned
};

// The lines of ```sh blocks that start with ./apo, apo or tests/run, with or without "$ " and NAME=value before it.
// Throws std::runtimeerror with the line for a norun block without a reason and for a block that does not end.
std::vector<DocumentCommand> commands_of(std::string_view document);

// What those commands and the `inline code` of the document say that apo has. Options with an underscore are Google
// Benchmark's, handed on by `apo bench`, and no mentions.
std::vector<Mention> mentions_of(std::string_view document);

// Every --option and -o in the text of a --help.
std::vector<std::string> options_in(std::string_view help);

}  // namespace apo
