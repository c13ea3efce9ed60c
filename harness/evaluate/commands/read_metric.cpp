// harness/evaluate/commands/read_metric.cpp - looks for the metric in JSON or lines, and for benchmarks in a library's
// document.
#include "harness/evaluate/commands/read_metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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
constexpr std::size_t kMostBenchmarks = 10'000;

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

// One benchmark by its name, or the only one. A benchmark of NVBench has states, "NAME [STATE]".
Result<double> one_of(const std::vector<Reading>& readings, const std::string& name) {
  std::vector<std::string> names;
  std::vector<std::string> states;
  const Reading* chosen = nullptr;
  for (const Reading& reading : readings) {
    names.push_back(reading.name);
    if (name.empty() || reading.name == name || reading.name.starts_with(name + " [")) {
      states.push_back(reading.name);
      chosen = &reading;
    }
  }
  if (states.empty()) {
    return no_metric("it measured no benchmark '" + name + "', but " + choices(names));
  }
  if (states.size() > 1) {
    return no_metric(name.empty() ? fmt::format("it measured {} benchmarks, and the metric names none of them: {}",
                                                names.size(), choices(names))
                                  : fmt::format("'{}' has {} states: {}", name, states.size(), choices(states)));
  }
  return chosen->problem.empty() ? Result<double>(chosen->value) : no_metric(chosen->problem);
}

// Several values of one name are repetitions, of which the median counts.
Result<std::vector<Reading>> each_benchmark_once(std::vector<Reading> readings) {
  std::vector<Reading> merged;
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<double>> values;
  for (Reading& reading : readings) {
    const auto [place, first] = places.emplace(reading.name, merged.size());
    if (first) {
      values.push_back({reading.value});
      merged.push_back(std::move(reading));
      continue;
    }
    Reading& known = merged[place->second];
    values[place->second].push_back(reading.value);
    if (known.problem.empty() && reading.unit != known.unit) {
      known.problem = fmt::format("'{}' is given in {} and in {}", known.name, known.unit, reading.unit);
    } else if (known.problem.empty()) {
      known.problem = reading.problem;
    }
  }
  if (merged.empty() || merged.size() > kMostBenchmarks) {
    return no_metric(merged.empty() ? "the document has no benchmark"
                                    : fmt::format("it measured more than {} benchmarks", kMostBenchmarks));
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    merged[i].value = median(values[i]);
  }
  return merged;
}

std::optional<double> unit_seconds(const std::string& unit) {
  static const std::map<std::string, double> units = {{"ns", 1e-9}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6},
                                                      {"ms", 1e-3}, {"s", 1.0},   {"min", 60.0}};
  const auto found = units.find(unit);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

// ---------------------------------------------------------------- Google Benchmark

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

// Those of a fitted complexity have no time.
bool is_fit(const Json& row) {
  const std::string aggregate = text_of(row, "aggregate_name");
  return aggregate == "BigO" || aggregate == "RMS";
}

std::vector<std::string> run_names(const Json& rows) {
  std::vector<std::string> names;
  for (const Json& row : rows) {
    if (row.is_object() && !is_fit(row)) {
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
    if (flag_of(row, "skipped")) {
      return no_metric("benchmark '" + name + "' was skipped: " + text_of(row, "skip_message"));
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

// The library's expressions recurse once a character.
constexpr std::size_t kLongestSearched = 4096;
constexpr std::size_t kQuoted = 300;

Result<std::vector<Reading>> google_benchmarks(const Json& document) {
  const Json* rows = list_of(document, "benchmarks");
  if (rows == nullptr) {
    return no_metric("stdout is not the JSON of a Google Benchmark program");
  }
  std::vector<Reading> readings;
  for (const std::string& name : run_names(*rows)) {
    Reading& reading = readings.emplace_back(Reading{.name = name, .unit = "s"});
    if (const auto times = times_of(*rows, name); !times) {
      reading.problem = times.failure().evidence;
    } else if (times->empty()) {
      reading.problem = "benchmark '" + name + "' reports neither a repetition nor a median";
    } else {
      reading.value = median(*times);
    }
  }
  return readings;
}

// The summary nv/cold/time/gpu/mean of every state.
Result<std::vector<Reading>> nvbench_states(const Json& document) {
  const Json* benchmarks = list_of(document, "benchmarks");
  if (benchmarks == nullptr) {
    return no_metric("its JSON file is not NVBench's");
  }
  std::vector<Reading> readings;
  for (const State& state : states_of(*benchmarks)) {
    Reading& reading = readings.emplace_back(Reading{.name = state.label, .unit = "s"});
    if (flag_of(*state.json, "is_skipped")) {
      reading.problem = "'" + state.label + "' was skipped: " + text_of(*state.json, "skip_reason");
    } else if (const auto seconds = summary_value(*state.json, "nv/cold/time/gpu/mean")) {
      reading.value = *seconds;
    } else {
      reading.problem = "'" + state.label + "' has no number nv/cold/time/gpu/mean";
    }
  }
  return readings;
}

// ---------------------------------------------------------------- hyperfine, pytest-benchmark, lines

std::optional<double> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// The medians of a list of objects.
Result<std::vector<Reading>> medians_of(const Json& document, const char* list, const char* name, const char* stats) {
  const Json* entries = list_of(document, list);
  if (entries == nullptr) {
    return no_metric(fmt::format("its JSON file has no list '{}'", list));
  }
  std::vector<Reading> readings;
  for (const Json& entry : *entries) {
    if (entry.is_object() && !text_of(entry, name).empty()) {
      const std::string label = text_of(entry, name);
      const Json numbers = *stats == '\0' ? entry : entry.value(stats, Json::object());
      const auto seconds = numbers.is_object() ? number_at(numbers, "median") : std::nullopt;
      readings.push_back({.name = label,
                          .value = seconds.value_or(0),
                          .unit = "s",
                          .problem = seconds ? "" : "'" + label + "' has no median"});
    }
  }
  return readings;
}

// Other lines are no benchmarks.
std::vector<Reading> benchmark_lines(const std::string& output) {
  std::vector<Reading> readings;
  for (const std::string& line : split(output, '\n')) {
    const std::vector<std::string> words = split_words(line);
    const auto value = words.size() == 3 ? parse_double(words[1]) : std::nullopt;
    if (value && readings.size() <= kMostBenchmarks) {
      const auto seconds = unit_seconds(words[2]);
      readings.push_back({.name = words[0], .value = *value * seconds.value_or(1), .unit = seconds ? "s" : words[2]});
    }
  }
  return readings;
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
    case MetricKind::nvbench:
    case MetricKind::hyperfine:
    case MetricKind::pytest_benchmark:
    case MetricKind::lines: {
      const auto readings = read_suite(metric, run, file_text);
      return readings ? one_of(*readings, metric.argument) : readings.failure();
    }
    case MetricKind::seconds:
      break;
  }
  return run.seconds;
}

bool writes_file(MetricKind kind) {
  return kind == MetricKind::nvbench || kind == MetricKind::hyperfine || kind == MetricKind::pytest_benchmark;
}

// For a shell, as one word.
std::string quoted(const std::string& text) {
  return "'" + replace_all(text, "'", "'\\''") + "'";
}

// "^(copy/8|fill)$", for POSIX and for ECMAScript.
std::string filter_of(const std::vector<std::string>& names) {
  std::string filter;
  for (const std::string& name : names) {
    filter += filter.empty() ? "^(" : "|";
    for (const char c : name) {
      filter += std::string_view(".[]()*+?{}|^$\\").find(c) == std::string_view::npos ? "" : "\\";
      filter += c;
    }
  }
  return filter.empty() ? ".*" : filter + ")$";
}

std::string selection(MetricKind kind, const std::vector<std::string>& names) {
  // The longest word that Linux passes to a program is 128 KiB; whoever has more benchmarks runs them all.
  constexpr std::size_t kLongest = 100'000;
  std::string text;
  if (kind == MetricKind::gbench && !names.empty()) {
    text = " --benchmark_filter=" + quoted(filter_of(names));
  } else if (kind == MetricKind::nvbench) {
    std::vector<std::string> benchmarks;
    for (const std::string& name : names) {
      benchmarks.push_back(name.substr(0, name.find(" [")));
    }
    for (const std::string& name : each_once(benchmarks)) {
      text += " -b " + quoted(name);
    }
  }
  return text.size() < kLongest ? text : "";
}

}  // namespace

std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file,
                          const std::vector<std::string>& names) {
  const bool placed = command.find(kFilterPlace) != std::string::npos;
  const std::string whole =
      placed ? replace_all(command, kFilterPlace, quoted(filter_of(names))) : command + selection(metric.kind, names);
  switch (metric.kind) {
    case MetricKind::gbench:
      return whole + " --benchmark_format=json";
    case MetricKind::nvbench:
      return whole + " --json " + quoted(file.string());
    case MetricKind::hyperfine:
      return whole + " --export-json " + quoted(file.string());
    case MetricKind::pytest_benchmark:
      return whole + " --benchmark-json=" + quoted(file.string());
    case MetricKind::seconds:
    case MetricKind::json:
    case MetricKind::regex:
    case MetricKind::lines:
      break;
  }
  return whole;
}

Result<std::vector<Reading>> read_suite(const CommandMetric& metric, const ProcessResult& run,
                                        const std::string& file_text) {
  if (run.cut && !writes_file(metric.kind)) {
    return nothing_found("it printed too much to look for the metric in");
  }
  if (writes_file(metric.kind) && file_text.empty()) {
    return nothing_found("it wrote no JSON file", run.output);
  }
  if (metric.kind == MetricKind::lines) {
    auto readings = benchmark_lines(run.output);
    return readings.empty() ? nothing_found("no line of stdout is NAME VALUE UNIT", run.output)
                            : each_benchmark_once(std::move(readings));
  }
  const Json document = Json::parse(writes_file(metric.kind) ? file_text : run.output, nullptr, false);
  auto readings = metric.kind == MetricKind::gbench      ? google_benchmarks(document)
                  : metric.kind == MetricKind::nvbench   ? nvbench_states(document)
                  : metric.kind == MetricKind::hyperfine ? medians_of(document, "results", "command", "")
                                                         : medians_of(document, "benchmarks", "fullname", "stats");
  return readings ? each_benchmark_once(std::move(*readings)) : readings;
}

Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text) {
  if (run.cut && metric.kind != MetricKind::seconds && !writes_file(metric.kind)) {
    return nothing_found("it printed too much to look for the metric in");
  }
  const auto value = read_value(metric, run, file_text);
  if (value && !(std::isfinite(*value) && *value > 0)) {
    return nothing_found("the metric is " + format_g(*value) + ", and has to be a positive number");
  }
  return value;
}

}  // namespace apo
