// harness/evaluate/commands/read_metric.h - finds the one number in what a run printed, strictly.
#pragma once

#include <filesystem>
#include <string>

#include "harness/core/commands/command_metric.h"
#include "harness/core/system/process.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// What `sh -c` gets: the command, with the flags behind it that make a benchmark program write JSON. NVBench writes it
// to `file`.
std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file);

// Of a run that ended well; `file_text` is what it wrote to the file. A positive number, else Outcome::no_metric.
Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text);

}  // namespace apo
