// harness/evaluate/commands/read_metric.h - finds the metric in the output of a run, strictly.
#pragma once

#include <filesystem>
#include <string>

#include "harness/core/comparisons/command_metric.h"
#include "harness/core/system/process.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Returns the text for the shell: the command, then the flags that make a benchmark program write JSON. NVBench writes
// it to `file`.
std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file);

// Reads the metric of a run that succeeded: a positive number, else Outcome::no_metric. `file_text` is the content of
// the file that the run wrote.
Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text);

}  // namespace apo
