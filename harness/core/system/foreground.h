// harness/core/system/foreground.h - runs a person's command with the terminal, input and outputs of the caller.
#pragma once

#include <string>
#include <vector>

#include "harness/core/system/subprocess.h"

namespace apo {

struct ForegroundOptions {
  std::vector<std::string> environment;  // "NAME=value", added to ours
  bool output_to_stderr = false;         // its standard output goes where our standard error goes
};

// The result is without what it printed. Searches PATH for argv[0]; throws UserError when there is no such program or
// it does not start. While it runs, Ctrl-C and Ctrl-\ reach only the command, and SIGTERM and SIGHUP are passed on to
// it. It is killed when this process dies, and processes that it leaves running are ended. Not for a process with
// several threads.
ProcessResult run_foreground(const std::vector<std::string>& argv, const ForegroundOptions& options = {});

}  // namespace apo
