// harness/mcp/serving/running_command.cpp - starts this very program, and moves bytes without ever waiting.
#include "harness/mcp/serving/running_command.h"

#include "harness/core/observer.h"
#include "harness/core/text.h"

namespace apo::mcp {
namespace {

constexpr std::size_t kMostOutput = std::size_t{32} << 20;
constexpr std::size_t kMostMessage = 4000;

// Stays the same program when a build replaces the file meanwhile.
constexpr const char* kThisProgram = "/proc/self/exe";

std::vector<std::string> argv_of(const CommandLine& line) {
  std::vector<std::string> argv = {"apo"};
  argv.insert(argv.end(), line.words.begin(), line.words.end());
  return argv;
}

// Whole characters of the end.
std::string last_part(const std::string& text, std::size_t most) {
  std::size_t begin = text.size() > most ? text.size() - most : 0;
  while (begin < text.size() && (text[begin] & '\xc0') == '\x80') {
    ++begin;
  }
  return text.substr(begin);
}

}  // namespace

RunningCommand::RunningCommand(const CommandLine& line, const std::vector<std::string>& environment)
    : process_(kThisProgram, argv_of(line), {.environment = environment}) {
  process_.send(line.input);
  process_.close_input();
}

std::vector<std::string> RunningCommand::move() {
  process_.move();
  if (process_.output.size() > kMostOutput) {
    process_.output.clear();
    cut_ = true;
  }
  if (!process_.err() || process_.errors.size() > kMostMessage) {
    process_.errors += '\n';  // behind a line that has no end
  }
  std::vector<std::string> progress;
  for (const std::string& line : take_lines(process_.errors)) {
    if (line.starts_with(kProgressMark)) {
      progress.push_back(line.substr(kProgressMark.size()));
    } else if (!line.empty()) {
      message_ = last_part(message_ + line + "\n", kMostMessage);
    }
  }
  return progress;
}

ProcessResult RunningCommand::end(bool now) {
  ProcessResult result = process_.finish(now);
  result.error = trim(message_);
  result.cut = cut_;
  return result;
}

}  // namespace apo::mcp
