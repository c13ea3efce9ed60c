// harness/mcp/serving/running_command.cpp - starts this very program, and moves bytes without ever waiting.
#include "harness/mcp/serving/running_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

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
    : process_(kThisProgram, argv_of(line), {.environment = environment}), input_(line.input) {
  feed();
}

void RunningCommand::watch(std::vector<pollfd>& descriptors) {
  if (out_open_) {
    descriptors.push_back({process_.out().get(), POLLIN, 0});
  }
  if (err_open_) {
    descriptors.push_back({process_.err().get(), POLLIN, 0});
  }
  if (process_.in()) {
    descriptors.push_back({process_.in().get(), POLLOUT, 0});
  }
}

void RunningCommand::feed() {
  FileDescriptor& in = process_.in();
  while (in && fed_ < input_.size()) {
    const ssize_t wrote = write_without_sigpipe(in.get(), std::string_view(input_).substr(fed_));
    if (wrote > 0) {
      fed_ += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      break;  // it does not want the rest
    }
  }
  in.reset();
}

std::vector<std::string> RunningCommand::move() {
  feed();
  if (out_open_) {
    out_open_ = drain(process_.out(), end_.output);
    if (end_.output.size() > kMostOutput) {
      end_.output.clear();
      end_.cut = true;
    }
  }
  std::vector<std::string> progress;
  if (err_open_) {
    err_open_ = drain(process_.err(), unfinished_line_);
    take_lines(progress);
  }
  return progress;
}

void RunningCommand::take_lines(std::vector<std::string>& progress) {
  if (!err_open_ || unfinished_line_.size() > kMostMessage) {
    unfinished_line_ += '\n';
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = unfinished_line_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = unfinished_line_.substr(begin, end - begin);
    if (line.starts_with(kProgressMark)) {
      progress.push_back(line.substr(kProgressMark.size()));
    } else if (!line.empty()) {
      end_.message = last_part(end_.message + line + "\n", kMostMessage);
    }
  }
  unfinished_line_.erase(0, begin);
}

CommandEnd RunningCommand::end(bool now) {
  const int status = process_.end(now);
  end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.message = trim(end_.message);
  return std::move(end_);
}

}  // namespace apo::mcp
