// harness/core/comparisons/command_metric.h - the number that a run of a command is judged by: `--metric` as it was
// written.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

enum class MetricKind : std::uint8_t {
  seconds,  // wall time of the run
  json,     // a number in the JSON document on stdout
  regex,    // the first capture group of the only match on stdout
  gbench,   // real time of a Google Benchmark program, in seconds
  nvbench,  // mean cold GPU time of an NVBench program, in seconds
};

struct CommandMetric {
  MetricKind kind = MetricKind::seconds;
  std::string argument;  // a JSON pointer, an expression, or a benchmark; empty: the only benchmark
  bool is_time() const { return kind != MetricKind::json && kind != MetricKind::regex; }
};

// "seconds", "json:PATH", "regex:EXPRESSION", "gbench[:NAME]", "nvbench[:NAME]". Throws UserError that says what is
// wrong with it.
CommandMetric parse_metric(const std::string& text);

}  // namespace apo
