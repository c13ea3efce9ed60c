// harness/core/system/line_process.h - runs a program and hands on each line that it prints with the time of its
// arrival.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/subprocess.h"

namespace apo {

struct LineProcessOptions {
  double timeout_s = 60;
  std::string working_folder;            // empty = ours
  std::vector<std::string> environment;  // "NAME=value", added to ours
};

// `seconds` is the time since the start. False: the program is ended.
using OnLine = std::function<bool(std::string_view line, double seconds)>;

// The result has the end of what was printed. Searches PATH for argv[0]. The program is supervised: at its end, at
// the deadline and when this process dies nothing of it stays, whatever its session. A line
// longer than a mebibyte is cut. Throws EnvironmentError when the program cannot be started.
ProcessResult run_lines(const std::vector<std::string>& argv, const LineProcessOptions& options, const OnLine& on_line);

}  // namespace apo
