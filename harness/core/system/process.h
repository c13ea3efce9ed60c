// harness/core/system/process.h - runs a program to its end with a deadline, capturing what it prints.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/subprocess.h"

namespace apo {

// A line of stdout, and the time of its arrival since the start. Returns false where the child has to be ended.
using OnLine = std::function<bool(std::string_view line, double seconds)>;

struct ProcessOptions {
  double timeout_s = 60;
  std::string working_folder;            // empty = ours
  std::vector<std::string> environment;  // "NAME=value", added to ours
  std::string input;                     // given on stdin
  std::size_t output_limit = 0;          // bytes of stdout, and of stderr, that are kept; 0: all
  bool end_at_limit = false;             // ends the child that prints more; else the rest is read and dropped
  bool until_last = false;  // its end is that of the last process that descends from it, in whatever session; then no
                            // other thread may start processes meanwhile
  // With until_last: how long others may outlive it. What still runs then is ended, and counted as left behind.
  double patience_s = std::numeric_limits<double>::infinity();
  OnLine on_line = {};  // gets each line, of a mebibyte at most; then the end of each output is kept, and no limit
  std::stop_token stop = {};  // kills the child before its end, and run_process throws Cancelled
};

// Searches PATH for argv[0]. The child leads its own process group, which is killed whole at the deadline and when
// this process dies. Throws EnvironmentError when the program cannot be started at all.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

// Absolute path, or nullopt when PATH has no such program.
std::optional<std::string> find_program(const std::string& name);
// The same; throws EnvironmentError.
std::string require_program(const std::string& name);

// "SIGSEGV (invalid memory reference)".
std::string signal_name(int signal);
// "did not finish in 2.0 s", its limit, or "was ended by SIGSEGV (invalid memory reference)"; "" where it exited.
std::string sudden_end(const ProcessResult& result, double timeout_s);

}  // namespace apo
