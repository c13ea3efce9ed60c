// harness/evaluate/programs/read_metric.h - finds the metric in the output of a run, or every benchmark of a suite,
// strictly.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/comparisons/command_metric.h"
#include "harness/core/system/process.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// In a command: where the regular expression of the wanted benchmarks stands.
inline constexpr const char* kFilterPlace = "{filter}";

// Returns the text for the shell: the command, then the flags that make a benchmark program write JSON, to `file` where
// it is not stdout, and those that select `names` (none: all). A program whose flags are not known runs all of them.
std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file,
                          const std::vector<std::string>& names = {});

// Reads the metric of a run that succeeded: a positive number, else Outcome::no_metric. `file_text` is the content of
// the file that the run wrote.
Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text);

// One benchmark of a run.
struct Reading {
  std::string name;
  double value = 0;          // a time in seconds; it may be 0 or negative
  std::string unit;          // "s" of a time; else as the program writes it
  std::string problem = "";  // why there is no value; empty: there is one
  bool is_usable() const { return problem.empty() && std::isfinite(value) && value > 0; }
};

// Reads all benchmarks of a metric that has many, in their order, each once and at least one, else Outcome::no_metric.
Result<std::vector<Reading>> read_suite(const CommandMetric& metric, const ProcessResult& run,
                                        const std::string& file_text);

}  // namespace apo
