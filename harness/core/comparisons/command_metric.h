// harness/core/comparisons/command_metric.h - the number that a run of a command is judged by: `--metric` as it was
// written.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

enum class MetricKind : std::uint8_t {
  seconds,           // wall time of the run
  json,              // a number in the JSON document on stdout
  regex,             // the first capture group of the only match on stdout
  gbench,            // real time of a Google Benchmark program, in seconds
  nvbench,           // mean cold GPU time of an NVBench program, in seconds
  hyperfine,         // median time of a command in the JSON that hyperfine exports, in seconds
  pytest_benchmark,  // median time of a test, in seconds
  lines,             // NAME VALUE UNIT on a line of stdout
};

struct CommandMetric {
  MetricKind kind = MetricKind::seconds;
  std::string argument;  // a JSON pointer, an expression, or a benchmark; empty: the only benchmark, or all of a suite
  bool is_time() const { return kind != MetricKind::json && kind != MetricKind::regex && kind != MetricKind::lines; }
  // A run reports many benchmarks, and none of them is named.
  bool is_suite() const { return kind >= MetricKind::gbench && argument.empty(); }
};

// "seconds", "json:PATH", "regex:EXPRESSION", or a format with many benchmarks and optionally ":NAME" of one: "gbench",
// "nvbench", "hyperfine", "pytest-benchmark", "lines". Throws UserError that says what is wrong with it.
CommandMetric parse_metric(const std::string& text);

}  // namespace apo
