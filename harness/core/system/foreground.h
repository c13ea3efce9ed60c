// harness/core/system/foreground.h - runs a person's command with the terminal, input and outputs of the caller.
#pragma once

#include <string>
#include <vector>

namespace apo {

struct ForegroundResult {
  int exit_code = -1;  // when it exited
  int signal = 0;      // when a signal ended it
  double seconds = 0;
  int left_behind = 0;  // processes that outlived it and were ended
};

struct ForegroundOptions {
  std::vector<std::string> environment;  // "NAME=value", added to ours
  bool output_to_stderr = false;         // its standard output goes where our standard error goes
};

// Searches PATH for argv[0]; throws UserError when there is no such program or it does not start. While it runs, Ctrl-C
// and Ctrl-\ reach only the command, and SIGTERM and SIGHUP are passed on to it. It is killed when this process dies,
// and processes that it leaves running are ended. Not for a process with several threads.
ForegroundResult run_foreground(const std::vector<std::string>& argv, const ForegroundOptions& options = {});

}  // namespace apo
