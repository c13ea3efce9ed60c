// harness/evaluate/commands/read_metric.cpp - looks for the metric in JSON, lines or a benchmark's document.
#include "harness/evaluate/commands/read_metric.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/pattern.h"
#include "harness/core/text.h"
#include "harness/evaluate/commands/benchmark_output.h"
#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

using Json = nlohmann::json;

// The library's expressions recurse once a character.
constexpr std::size_t kLongestSearched = 4096;
constexpr std::size_t kQuoted = 300;

Failure nothing_found(const std::string& evidence, const std::string& printed = "") {
  const std::string end = printable_tail(printed, kQuoted);
  return {.outcome = Outcome::no_metric,
          .evidence = printable_tail(evidence) + (end.empty() ? "" : "; it printed: " + end)};
}

Result<double> read_json(const std::string& path, const std::string& output) {
  const Json document = Json::parse(output, nullptr, false);
  if (document.is_discarded()) {
    return nothing_found("stdout is not one JSON document", output);
  }
  try {
    const Json& value = document.at(Json::json_pointer(path));
    return value.is_number() ? Result<double>(value.get<double>())
                             : nothing_found("'" + path + "' is of type " + value.type_name() + ", and no number");
  } catch (const Json::exception&) {
    return nothing_found("the JSON document on stdout has nothing at '" + path + "'", output);
  }
}

Result<double> read_regex(const std::string& expression, const std::string& output) {
  const Pattern pattern(expression);
  std::vector<std::string> found;
  for (const std::string& line : split(output, '\n')) {
    if (line.size() > kLongestSearched) {
      return nothing_found(fmt::format("a line of {} characters is too long for a regular expression", line.size()));
    }
    for (const PatternMatch& match : pattern.all(line)) {
      found.push_back(match[1]);
    }
  }
  if (found.size() != 1) {
    return nothing_found(
        found.empty() ? "no line of stdout matches the expression"
                      : fmt::format("stdout matches the expression {} times, and has to match it once", found.size()),
        output);
  }
  const auto value = parse_double(trim(found.front()));
  return value ? Result<double>(*value) : nothing_found("'" + found.front() + "' is no finite number");
}

Result<double> read_value(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text) {
  switch (metric.kind) {
    case MetricKind::json:
      return read_json(metric.argument, run.output);
    case MetricKind::regex:
      return read_regex(metric.argument, run.output);
    case MetricKind::gbench:
      return google_benchmark_seconds(run.output, metric.argument);
    case MetricKind::nvbench:
      return nvbench_seconds(file_text, metric.argument);
    case MetricKind::seconds:
      break;
  }
  return run.seconds;
}

}  // namespace

std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file) {
  switch (metric.kind) {
    case MetricKind::gbench:
      return command + " --benchmark_format=json";
    case MetricKind::nvbench:
      return command + " --json '" + file.string() + "'";
    case MetricKind::seconds:
    case MetricKind::json:
    case MetricKind::regex:
      break;
  }
  return command;
}

Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text) {
  if (run.cut && metric.kind != MetricKind::seconds && metric.kind != MetricKind::nvbench) {
    return nothing_found("it printed too much to look for the metric in");
  }
  const auto value = read_value(metric, run, file_text);
  if (value && !(std::isfinite(*value) && *value > 0)) {
    return nothing_found("the metric is " + format_g(*value) + ", and has to be a positive number");
  }
  return value;
}

}  // namespace apo
