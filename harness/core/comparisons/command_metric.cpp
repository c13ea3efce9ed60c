// harness/core/comparisons/command_metric.cpp - splits `--metric` and checks its parts before anything runs.
#include "harness/core/comparisons/command_metric.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/text.h"
#include "harness/core/words.h"

namespace apo {

APO_WORDS(MetricKind, metric_kind_from, seconds, json, regex, gbench, nvbench, hyperfine, pytest_benchmark, lines)

namespace {

constexpr const char* kForms =
    "known: seconds, json:PATH, regex:EXPRESSION, and gbench, nvbench, hyperfine, pytest-benchmark or lines, each with "
    ":NAME for one of its benchmarks";

MetricKind kind_of(const std::string& word, const std::string& text) {
  if (const auto kind = metric_kind_from(replace_all(word, "-", "_"))) {
    return *kind;
  }
  const std::string guess = did_you_mean(word, words_of<MetricKind>());
  throw UserError("unknown metric '" + text + "'", (guess.empty() ? "" : guess + "\n") + kForms);
}

// Turns "a.0.b" and "a[0].b" into "/a/0/b".
std::string pointer_of(const std::string& path) {
  if (path.starts_with('/')) {
    return path;
  }
  std::string pointer = path.starts_with('[') ? "" : "/";
  for (const char c : path) {
    pointer += c == '.' || c == '[' ? "/" : c == ']' ? "" : c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer;
}

std::string checked_pointer(const std::string& path) {
  try {
    return nlohmann::json::json_pointer(pointer_of(path)).to_string();
  } catch (const nlohmann::json::exception&) {
    throw UserError("metric 'json:" + path + "' has no path in it",
                    "write a JSON pointer such as json:/results/0/seconds, or json:results.0.seconds");
  }
}

void check_regex(const std::string& expression) {
  constexpr const char* kExample = "for example 'regex:time = ([0-9.]+) s'";
  try {
    if (Pattern(expression).groups() == 0) {
      throw UserError("metric 'regex:" + expression + "' has no capture group",
                      std::string("put the number in parentheses, ") + kExample);
    }
  } catch (const PatternError& error) {
    throw UserError("metric 'regex:" + expression + "' is no regular expression: " + error.what(),
                    std::string("write it as ECMAScript has it, ") + kExample);
  }
}

bool is_complete(const CommandMetric& metric, bool has_colon) {
  switch (metric.kind) {
    case MetricKind::seconds:
      return !has_colon;
    case MetricKind::json:
    case MetricKind::regex:
      return !metric.argument.empty();
    case MetricKind::gbench:
    case MetricKind::nvbench:
    case MetricKind::hyperfine:
    case MetricKind::pytest_benchmark:
    case MetricKind::lines:
      break;
  }
  return !has_colon || !metric.argument.empty();
}

}  // namespace

CommandMetric parse_metric(const std::string& text) {
  const std::size_t colon = text.find(':');
  const bool has_colon = colon != std::string::npos;
  CommandMetric metric{.kind = kind_of(text.substr(0, colon), text),
                       .argument = has_colon ? text.substr(colon + 1) : ""};
  if (!is_complete(metric, has_colon)) {
    throw UserError("metric '" + text + "' is not complete", kForms);
  }
  if (metric.kind == MetricKind::regex) {
    check_regex(metric.argument);
  } else if (metric.kind == MetricKind::json) {
    metric.argument = checked_pointer(metric.argument);
  }
  return metric;
}

}  // namespace apo
