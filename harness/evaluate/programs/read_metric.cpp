// harness/evaluate/programs/read_metric.cpp - looks for the metric in JSON or lines, and for benchmarks in a library's
// document.
#include "harness/evaluate/programs/read_metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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
constexpr std::size_t kLongestSearched = 4096;  // the library's expressions recurse once a character
constexpr std::size_t kQuoted = 300;

// The flag that makes a benchmark program write JSON: to stdout, or to a file whose name follows.
struct Format {
  MetricKind kind;
  const char* flag;
  bool to_file;
};
constexpr Format kFormats[] = {{MetricKind::gbench, " --benchmark_format=json", false},
                               {MetricKind::nvbench, " --json ", true},
                               {MetricKind::hyperfine, " --export-json ", true},
                               {MetricKind::pytest_benchmark, " --benchmark-json=", true}};

const Format* format_of(MetricKind kind) {
  const auto* const found = std::ranges::find(kFormats, kind, &Format::kind);
  return found == std::end(kFormats) ? nullptr : found;
}

bool writes_file(MetricKind kind) {
  return format_of(kind) != nullptr && format_of(kind)->to_file;
}

Failure no_metric(const std::string& evidence, const std::string& printed = "") {
  const std::string end = printable_tail(printed, kQuoted);
  return {.outcome = Outcome::no_metric,
          .evidence = printable_tail(evidence) + (end.empty() ? "" : "; it printed: " + end)};
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::optional<double> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

bool has_list(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_array();
}

// Of a list; none where there is no list.
std::vector<const Json*> objects_of(const Json& object, const char* key) {
  std::vector<const Json*> objects;
  if (has_list(object, key)) {
    for (const Json& one : object[key]) {
      if (one.is_object()) {
        objects.push_back(&one);
      }
    }
  }
  return objects;
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

// ---------------------------------------------------------------- formats

Reading reading_of(const std::string& name, std::optional<double> seconds, const std::string& problem) {
  return {.name = name, .value = seconds.value_or(0), .unit = "s", .problem = seconds ? "" : problem};
}

Reading google_reading(const Json& row, const std::string& name) {
  const std::string benchmark = "benchmark '" + name + "' ";
  if (flag_of(row, "error_occurred") || !text_of(row, "error_message").empty()) {
    return reading_of(name, {}, benchmark + "reports an error: " + text_of(row, "error_message"));
  }
  if (flag_of(row, "skipped")) {
    return reading_of(name, {}, benchmark + "was skipped: " + text_of(row, "skip_message"));
  }
  const auto time = number_of(row, "real_time");
  const auto unit = unit_seconds(text_of(row, "time_unit"));
  return reading_of(name, time && unit ? std::optional(*time * *unit) : std::nullopt,
                    benchmark + "has no real_time with a time_unit of ns, us, ms or s");
}

// Every repetition; where none is written, the aggregate that is their median.
std::vector<Reading> google_benchmarks(const Json& document) {
  const auto is_aggregate = [](const Json& row) { return text_of(row, "run_type") == "aggregate"; };
  const auto name_of = [](const Json& row) {  // before version 1.5 there was no run_name
    const std::string name = text_of(row, "run_name");
    return name.empty() ? text_of(row, "name") : name;
  };
  const std::vector<const Json*> rows = objects_of(document, "benchmarks");
  std::set<std::string> repeated;
  for (const Json* row : rows) {
    if (!is_aggregate(*row)) {
      repeated.insert(name_of(*row));
    }
  }
  std::vector<Reading> readings;
  for (const Json* row : rows) {
    const std::string name = name_of(*row);
    if (!is_aggregate(*row) || (text_of(*row, "aggregate_name") == "median" && !repeated.contains(name))) {
      readings.push_back(google_reading(*row, name));
    }
  }
  return readings;
}

// Numbers stand in strings, so that no reader loses digits.
std::optional<double> summary_of(const Json& state, const std::string& tag) {
  for (const Json* summary : objects_of(state, "summaries")) {
    for (const Json* entry : objects_of(*summary, "data")) {
      if (text_of(*summary, "tag") == tag && text_of(*entry, "name") == "value") {
        const std::string text = text_of(*entry, "value");
        return text.empty() ? number_of(*entry, "value") : parse_double(text);
      }
    }
  }
  return std::nullopt;
}

std::vector<Reading> nvbench_states(const Json& document) {
  constexpr const char* kTime = "nv/cold/time/gpu/mean";
  std::vector<Reading> readings;
  for (const Json* benchmark : objects_of(document, "benchmarks")) {
    for (const Json* state : objects_of(*benchmark, "states")) {
      const std::string name = fmt::format("{} [{}]", text_of(*benchmark, "name"), text_of(*state, "name"));
      readings.push_back(flag_of(*state, "is_skipped")
                             ? reading_of(name, {}, "'" + name + "' was skipped: " + text_of(*state, "skip_reason"))
                             : reading_of(name, summary_of(*state, kTime), "'" + name + "' has no number " + kTime));
    }
  }
  return readings;
}

// `stats`: the key of the object with the median; "": it is in the benchmark itself.
std::vector<Reading> medians_of(const Json& document, const char* list, const char* name, const std::string& stats) {
  std::vector<Reading> readings;
  for (const Json* entry : objects_of(document, list)) {
    const Json numbers = stats.empty() ? *entry : entry->value(stats, Json());
    if (const std::string label = text_of(*entry, name); !label.empty()) {
      readings.push_back(reading_of(label, numbers.is_object() ? number_of(numbers, "median") : std::nullopt,
                                    "'" + label + "' has no median"));
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

// ---------------------------------------------------------------- one number

Result<double> read_json(const std::string& path, const std::string& output) {
  const Json document = Json::parse(output, nullptr, false);
  if (document.is_discarded()) {
    return no_metric("stdout is not one JSON document", output);
  }
  try {
    const Json& value = document.at(Json::json_pointer(path));
    return value.is_number() ? Result<double>(value.get<double>())
                             : no_metric("'" + path + "' is of type " + value.type_name() + ", and no number");
  } catch (const Json::exception&) {
    return no_metric("the JSON document on stdout has nothing at '" + path + "'", output);
  }
}

Result<double> read_regex(const std::string& expression, const std::string& output) {
  const Pattern pattern(expression);
  std::vector<std::string> found;
  for (const std::string& line : split(output, '\n')) {
    if (line.size() > kLongestSearched) {
      return no_metric(fmt::format("a line of {} characters is too long for a regular expression", line.size()));
    }
    for (const PatternMatch& match : pattern.all(line)) {
      found.push_back(match[1]);
    }
  }
  if (found.size() != 1) {
    return no_metric(
        found.empty() ? "no line of stdout matches the expression"
                      : fmt::format("stdout matches the expression {} times, and has to match it once", found.size()),
        output);
  }
  const auto value = parse_double(trim(found.front()));
  return value ? Result<double>(*value) : no_metric("'" + found.front() + "' is no finite number");
}

Result<double> read_value(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text) {
  switch (metric.kind) {
    case MetricKind::seconds:
      return run.seconds;
    case MetricKind::json:
      return read_json(metric.argument, run.output);
    case MetricKind::regex:
      return read_regex(metric.argument, run.output);
    default:
      const auto readings = read_suite(metric, run, file_text);
      return readings ? one_of(*readings, metric.argument) : readings.failure();
  }
}

// ---------------------------------------------------------------- the command

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
    text = " --benchmark_filter=" + shell_word(filter_of(names));
  } else if (kind == MetricKind::nvbench) {
    std::vector<std::string> benchmarks;
    for (const std::string& name : names) {
      benchmarks.push_back(name.substr(0, name.find(" [")));
    }
    for (const std::string& name : each_once(benchmarks)) {
      text += " -b " + shell_word(name);
    }
  }
  return text.size() < kLongest ? text : "";
}

}  // namespace

std::string shell_command(const CommandMetric& metric, const std::string& command, const std::filesystem::path& file,
                          const std::vector<std::string>& names) {
  const bool placed = command.find(kFilterPlace) != std::string::npos;
  const std::string whole = placed ? replace_all(command, kFilterPlace, shell_word(filter_of(names)))
                                   : command + selection(metric.kind, names);
  const Format* format = format_of(metric.kind);
  return format == nullptr ? whole : whole + format->flag + (format->to_file ? shell_word(file.string()) : "");
}

Result<std::vector<Reading>> read_suite(const CommandMetric& metric, const ProcessResult& run,
                                        const std::string& file_text) {
  const bool in_file = writes_file(metric.kind);
  if (run.cut && !in_file) {
    return no_metric("it printed too much to look for the metric in");
  }
  if (in_file && file_text.empty()) {
    return no_metric("it wrote no JSON file", run.output);
  }
  if (metric.kind == MetricKind::lines) {
    auto readings = benchmark_lines(run.output);
    return readings.empty() ? no_metric("no line of stdout is NAME VALUE UNIT", run.output)
                            : each_benchmark_once(std::move(readings));
  }
  const Json document = Json::parse(in_file ? file_text : run.output, nullptr, false);
  const char* list = metric.kind == MetricKind::hyperfine ? "results" : "benchmarks";
  if (!has_list(document, list)) {
    return no_metric(metric.kind == MetricKind::gbench    ? "stdout is not the JSON of a Google Benchmark program"
                     : metric.kind == MetricKind::nvbench ? "its JSON file is not NVBench's"
                                                          : fmt::format("its JSON file has no list '{}'", list));
  }
  return each_benchmark_once(metric.kind == MetricKind::gbench      ? google_benchmarks(document)
                             : metric.kind == MetricKind::nvbench   ? nvbench_states(document)
                             : metric.kind == MetricKind::hyperfine ? medians_of(document, list, "command", "")
                                                                    : medians_of(document, list, "fullname", "stats"));
}

Result<double> read_metric(const CommandMetric& metric, const ProcessResult& run, const std::string& file_text) {
  if (run.cut && metric.kind != MetricKind::seconds && !writes_file(metric.kind)) {
    return no_metric("it printed too much to look for the metric in");
  }
  const Result<double> value = read_value(metric, run, file_text);
  if (value && !(std::isfinite(*value) && *value > 0)) {
    return no_metric("the metric is " + format_g(*value) + ", and has to be a positive number");
  }
  return value;
}

}  // namespace apo
