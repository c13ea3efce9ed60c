// tests/project/markdown.cpp - reads fenced blocks and inline code, line by line.
#include "tests/project/markdown.h"

#include <algorithm>
#include <stdexcept>

#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::string_view kFence = "```";

struct Line {
  int number = 0;
  std::string text;
  std::string block;  // the fence's tag, e.g. "sh norun: why"; "" outside of blocks
};

[[noreturn]] void fail(int line, const std::string& what) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

// The document without its fences.
std::vector<Line> read_lines(std::string_view document) {
  std::vector<Line> lines;
  std::string block;
  int number = 0;
  int opened = 0;
  for (const std::string& text : split(document, '\n')) {
    ++number;
    if (!trim(text).starts_with(kFence)) {
      lines.push_back({.number = number, .text = text, .block = block});
    } else if (opened != 0) {
      opened = 0;
      block.clear();
    } else {
      opened = number;
      block = trim(std::string_view(trim(text)).substr(kFence.size()));
      block = block.empty() ? "text" : block;
    }
  }
  if (opened != 0) {
    fail(opened, "this block does not end");
  }
  return lines;
}

bool is_shell(const std::string& block) {
  return block == "sh" || block.starts_with("sh ");
}

// "sh norun: needs a GPU". A reason is asked for, so that nobody switches a command off in passing.
bool is_skipped(const Line& line) {
  static const Pattern kNoRun(R"(sh\s+norun\b:?\s*(.*))");
  const auto match = kNoRun.match(line.block);
  if (!match) {
    return false;
  }
  if ((*match)[1].empty()) {
    fail(line.number, "the block is tagged norun without a reason; write ```sh norun: why");
  }
  return true;
}

// What follows "$ " and NAME=value; "" when the line calls nothing of ours.
std::string call_in(const std::string& text) {
  static const Pattern kCall(R"((?:[A-Z_][A-Z0-9_]*=\S*\s+)*((?:\./)?apo|(?:\./)?tests/run)(\s.*)?)");
  const auto match = kCall.match(text);
  return match ? (*match)[1] + (*match)[2] : "";
}

std::string without_prompt(const std::string& text) {
  const std::string line = trim(text);
  return line.starts_with("$ ") ? trim(std::string_view(line).substr(2)) : line;
}

// Words up to the first shell operator or comment; what stands in quotes is another command's affair.
std::vector<std::string> own_words(const std::string& command) {
  static const Pattern kQuoted("'[^']*'");
  std::vector<std::string> words = split_words(kQuoted.replace(command, "''"));
  const auto end = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.find_first_of("|;&<>#") != std::string::npos && !word.starts_with("--");
  });
  words.erase(end, words.end());
  return words;
}

std::string option_in(const std::string& word) {
  static const Pattern kOption(R"([\[(]?(--?[A-Za-z][A-Za-z0-9-]*)(=\S*)?[\])]?)");
  const auto match = kOption.match(word);
  return match ? (*match)[1] : "";
}

void add_mentions(int line, const std::string& call, std::vector<Mention>& mentions) {
  static const Pattern kName("[a-z][a-z-]*");
  const std::vector<std::string> words = own_words(call);
  if (words.empty() || words.front().ends_with("tests/run")) {
    return;
  }
  Mention mention{.line = line, .subcommand = {}, .option = {}};
  if (words.size() > 1 && kName.matches(words[1])) {
    mention.subcommand = words[1];
    mentions.push_back(mention);
  }
  for (const std::string& word : words) {
    mention.option = option_in(word);
    if (!mention.option.empty()) {
      mentions.push_back(mention);
    }
  }
}

void add_inline_mentions(const Line& line, std::vector<Mention>& mentions) {
  static const Pattern kCode("`([^`]+)`");
  for (const PatternMatch& code : kCode.all(line.text)) {
    const std::string text = trim(code[1]);
    if (const std::string option = option_in(text.substr(0, text.find(' '))); option.starts_with("--")) {
      mentions.push_back({.line = line.number, .subcommand = {}, .option = option});
    } else if (const std::string call = call_in(text); !call.empty()) {
      add_mentions(line.number, call, mentions);
    }
  }
}

}  // namespace

std::vector<DocumentCommand> commands_of(std::string_view document) {
  std::vector<DocumentCommand> commands;
  bool continued = false;
  for (const Line& line : read_lines(document)) {
    if (!is_shell(line.block)) {
      continued = false;
      continue;
    }
    const bool skipped = is_skipped(line);
    std::string text = without_prompt(line.text);
    const bool continues = text.ends_with('\\');
    text = continues ? trim(std::string_view(text).substr(0, text.size() - 1)) : text;
    if (continued) {
      commands.back().text += " " + text;
      continued = continues;
    } else if (const std::string call = call_in(text); !call.empty()) {
      const bool runs = !skipped && !call.starts_with("tests/run") && !call.starts_with("./tests/run");
      commands.push_back({.line = line.number, .text = text, .runs = runs});
      continued = continues;
    }
  }
  return commands;
}

std::vector<Mention> mentions_of(std::string_view document) {
  std::vector<Mention> mentions;
  for (const DocumentCommand& command : commands_of(document)) {
    add_mentions(command.line, call_in(command.text), mentions);
  }
  for (const Line& line : read_lines(document)) {
    if (line.block.empty()) {
      add_inline_mentions(line, mentions);
    }
  }
  return mentions;
}

std::vector<std::string> options_in(std::string_view help) {
  static const Pattern kOption(R"((^|[\s,\[])(--?[A-Za-z][A-Za-z0-9-]*))");
  std::vector<std::string> options;
  for (const PatternMatch& option : kOption.all(help)) {
    options.push_back(option[2]);
  }
  return options;
}

}  // namespace apo
