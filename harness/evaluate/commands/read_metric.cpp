// harness/evaluate/commands/read_metric.cpp - looks for the metric in JSON, lines or a benchmark's document.
#include "harness/evaluate/commands/read_metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "harness/core/pattern.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kNamesShown = 12;

Failure no_metric(const std::string& evidence) {
  return {.outcome = Outcome::no_metric, .evidence = printable_tail(evidence)};
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// Returns the objects of a list; nullptr if there is none.
const Json* list_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

std::string choices(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamesShown, names.size())));
  return join(shown, ", ") + (names.size() > kNamesShown ? ", ..." : "");
}

// Returns why the choice of one benchmark among several fails.
Failure not_one(const std::string& library, const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) {
    return no_metric("the document of " + library + " has no benchmark");
  }
  if (name.empty()) {
    return no_metric(
        fmt::format("it measured {} benchmarks, and the metric names none of them: {}", names.size(), choices(names)));
  }
  return no_metric("it measured no benchmark '" + name + "', but " + choices(names));
}

// ---------------------------------------------------------------- Google Benchmark

std::optional<double> unit_seconds(const std::string& unit) {
  return unit == "ns"   ? std::optional(1e-9)
         : unit == "us" ? std::optional(1e-6)
         : unit == "ms" ? std::optional(1e-3)
         : unit == "s"  ? std::optional(1.0)
                        : std::nullopt;
}

// Before version 1.5 there was no run_name.
std::string run_name(const Json& row) {
  const std::string name = text_of(row, "run_name");
  return name.empty() ? text_of(row, "name") : name;
}

std::optional<double> real_seconds(const Json& row) {
  const auto time = row.find("real_time");
  const auto unit = unit_seconds(text_of(row, "time_unit"));
  return time != row.end() && time->is_number() && unit ? std::optional(time->get<double>() * *unit) : std::nullopt;
}

std::vector<std::string> run_names(const Json& rows) {
  std::vector<std::string> names;
  for (const Json& row : rows) {
    if (row.is_object()) {
      names.push_back(run_name(row));
    }
  }
  return each_once(names);
}

// Returns the time of each repetition, or the aggregate of their median.
Result<std::vector<double>> times_of(const Json& rows, const std::string& name) {
  std::vector<double> repetitions;
  std::vector<double> medians;
  for (const Json& row : rows) {
    if (!row.is_object() || run_name(row) != name) {
      continue;
    }
    if (flag_of(row, "error_occurred") || !text_of(row, "error_message").empty()) {
      return no_metric("benchmark '" + name + "' reports an error: " + text_of(row, "error_message"));
    }
    const bool aggregate = text_of(row, "run_type") == "aggregate";
    if (aggregate && text_of(row, "aggregate_name") != "median") {
      continue;
    }
    const auto seconds = real_seconds(row);
    if (!seconds) {
      return no_metric("benchmark '" + name + "' has no real_time with a time_unit of ns, us, ms or s");
    }
    (aggregate ? medians : repetitions).push_back(*seconds);
  }
  return repetitions.empty() ? medians : repetitions;
}

// ---------------------------------------------------------------- NVBench

struct State {
  std::string benchmark;
  std::string label;  // "BENCHMARK [STATE]"
  const Json* json = nullptr;
};

std::vector<State> states_of(const Json& benchmarks) {
  std::vector<State> all;
  for (const Json& benchmark : benchmarks) {
    const Json* states = list_of(benchmark, "states");
    for (std::size_t i = 0; states != nullptr && i < states->size(); ++i) {
      const Json& state = (*states)[i];
      if (state.is_object()) {
        const std::string name = text_of(benchmark, "name");
        all.push_back({name, name + " [" + text_of(state, "name") + "]", &state});
      }
    }
  }
  return all;
}

// Numbers stand in strings, so that no reader loses digits.
std::optional<double> number_of(const Json& value) {
  return value.is_number()   ? std::optional(value.get<double>())
         : value.is_string() ? parse_double(value.get<std::string>())
                             : std::nullopt;
}

std::optional<double> summary_value(const Json& state, const std::string& tag) {
  const Json* summaries = list_of(state, "summaries");
  for (std::size_t i = 0; summaries != nullptr && i < summaries->size(); ++i) {
    const Json& summary = (*summaries)[i];
    const Json* data = summary.is_object() && text_of(summary, "tag") == tag ? list_of(summary, "data") : nullptr;
    for (std::size_t k = 0; data != nullptr && k < data->size(); ++k) {
      const Json& entry = (*data)[k];
      if (entry.is_object() && text_of(entry, "name") == "value" && entry.contains("value")) {
        return number_of(entry["value"]);
      }
    }
  }
  return std::nullopt;
}

using Json = nlohmann::json;

// The library's expressions recurse once a character.
constexpr std::size_t kLongestSearched = 4096;
constexpr std::size_t kQuoted = 300;

// Seconds. `name` is the benchmark's name, empty where there is only one. Of several repetitions the median, also where
// the program reports aggregates alone.
Result<double> google_benchmark_seconds(const std::string& json, const std::string& name) {
  const Json document = Json::parse(json, nullptr, false);
  const Json* rows = document.is_discarded() ? nullptr : list_of(document, "benchmarks");
  if (rows == nullptr) {
    return no_metric("stdout is not the JSON of a Google Benchmark program");
  }
  const std::vector<std::string> names = run_names(*rows);
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (name.empty() ? names.size() != 1 : !known) {
    return not_one("Google Benchmark", name, names);
  }
  const std::string& chosen = name.empty() ? names.front() : name;
  const auto times = times_of(*rows, chosen);
  if (!times) {
    return times.failure();
  }
  if (times->empty()) {
    return no_metric("benchmark '" + chosen + "' reports neither a repetition nor a median");
  }
  return median(*times);
}

// Seconds: the summary nv/cold/time/gpu/mean. `name` is BENCHMARK, or "BENCHMARK [STATE]" as NVBench's log writes it;
// empty where one state was measured.
Result<double> nvbench_seconds(const std::string& json, const std::string& name) {
  const Json document = Json::parse(json, nullptr, false);
  const Json* benchmarks = document.is_discarded() ? nullptr : list_of(document, "benchmarks");
  if (benchmarks == nullptr) {
    return no_metric(json.empty() ? "it wrote no JSON file" : "its JSON file is not NVBench's");
  }
  const std::vector<State> all = states_of(*benchmarks);
  std::vector<State> chosen;
  std::vector<std::string> labels;
  for (const State& state : all) {
    labels.push_back(state.label);
    if (name.empty() || state.benchmark == name || state.label == name) {
      chosen.push_back(state);
    }
  }
  if (chosen.size() != 1) {
    return chosen.empty() ? not_one("NVBench", name, labels)
                          : no_metric(fmt::format("it measured {} states, and the metric names none of them: {}",
                                                  chosen.size(), choices(labels)));
  }
  if (flag_of(*chosen.front().json, "is_skipped")) {
    return no_metric("'" + chosen.front().label + "' was skipped: " + text_of(*chosen.front().json, "skip_reason"));
  }
  const auto seconds = summary_value(*chosen.front().json, "nv/cold/time/gpu/mean");
  return seconds ? Result<double>(*seconds)
                 : no_metric("'" + chosen.front().label + "' has no number nv/cold/time/gpu/mean");
}

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
