// harness/mcp/serving/running_command.h - a command of this program that runs beside the server, in a process group of
// its own.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "harness/core/system/subprocess.h"
#include "harness/mcp/tools/command_line.h"

namespace apo::mcp {

class RunningCommand {
 public:
  // `environment`: "NAME=value". Throws EnvironmentError.
  RunningCommand(const CommandLine& line, const std::vector<std::string>& environment);

  void watch(std::vector<pollfd>& descriptors) const { process_.watch(descriptors); }
  // Moves what can be moved without waiting, and returns the new lines of progress.
  std::vector<std::string> move();
  bool is_over() const { return process_.is_silent(); }
  // Waits for its end, or kills it with all that it started. `error` is the end of stderr, without its progress.
  ProcessResult end(bool now);

 private:
  Subprocess process_;
  std::string message_;
  bool cut_ = false;
};

}  // namespace apo::mcp
