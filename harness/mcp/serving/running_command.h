// harness/mcp/serving/running_command.h - a command of this program that runs beside the server, in a process group of
// its own.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "harness/core/system/spawn.h"
#include "harness/mcp/tools/command_line.h"

namespace apo::mcp {

struct CommandEnd {
  int exit_code = -1;   // when it exited
  int signal = 0;       // when a signal ended it
  std::string output;   // what it printed on stdout
  std::string message;  // the end of what it printed on stderr, without its progress
  bool cut = false;     // it printed more than is kept
};

class RunningCommand {
 public:
  // `environment`: "NAME=value". Throws EnvironmentError.
  RunningCommand(const CommandLine& line, const std::vector<std::string>& environment);

  void watch(std::vector<pollfd>& descriptors);
  // Moves what can be moved without waiting, and returns the new lines of progress.
  std::vector<std::string> move();
  bool is_over() const { return !out_open_ && !err_open_; }
  // Waits for its end, or kills it with all that it started.
  CommandEnd end(bool now);

 private:
  void feed();
  void take_lines(std::vector<std::string>& progress);

  SpawnedProcess process_;
  std::string input_;
  std::size_t fed_ = 0;
  bool out_open_ = true;
  bool err_open_ = true;
  std::string unfinished_line_;  // of stderr
  CommandEnd end_;
};

}  // namespace apo::mcp
