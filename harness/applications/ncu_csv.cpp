// harness/applications/ncu_csv.cpp - converts CSV (RFC 4180) to kernels and metrics.
#include "harness/applications/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Row = std::vector<std::string>;

// One record from `text`, which it is taken from. A quoted field may hold commas, doubled quotes and line ends.
Row next_row(std::string_view& text, std::int64_t& line) {
  Row row(1);
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n' ? 1 : 0;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      row.emplace_back();
    } else if (!quoted && c == '\n') {
      ++i;
      break;
    } else if (quoted || c != '\r') {
      row.back() += c;
    }
  }
  text.remove_prefix(i);
  return row;
}

bool is_header(std::string_view line) {
  return line.starts_with("\"ID\",") && line.find("\"Kernel Name\"") != std::string_view::npos;
}

// The position of the header; npos without one. `line` counts the lines before it.
std::size_t find_header(std::string_view text, std::int64_t& line) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_header(text.substr(at, end - at))) {
      return at;
    }
    at = end + 1;
    ++line;
  }
  return std::string_view::npos;
}

std::size_t column(const Row& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

// "1,234.5"; words, "n/a" and lists are no numbers.
std::optional<double> number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return parse_double(trim(text));
}

std::optional<double> nanoseconds(double value, const std::string& unit) {
  static const std::map<std::string, double, std::less<>> kUnits = {{"ns", 1},        {"nsecond", 1}, {"us", 1e3},
                                                                    {"usecond", 1e3}, {"ms", 1e6},    {"msecond", 1e6},
                                                                    {"s", 1e9},       {"second", 1e9}};
  const auto found = kUnits.find(unit);
  return found == kUnits.end() ? std::nullopt : std::optional(value * found->second);
}

bool is_duration(const std::string& metric) {
  return metric == "gpu__time_duration.sum" || metric == "gpu__time_duration.avg" || metric == "Duration";
}

struct Mean {
  std::string unit;
  double sum = 0;
  std::int64_t samples = 0;
};

// Sums the rows.
class Launches {
 public:
  explicit Launches(std::string where) : where_(std::move(where)) {}

  void add(const std::string& launch, const std::string& kernel, const std::string& metric, const std::string& unit,
           const std::string& text, std::int64_t line) {
    launches_.insert(launch);
    const std::optional<double> value = number(text);
    if (is_duration(metric) && !timed_.contains(launch)) {
      add_time(launch, kernel, unit, value, text, line);
    }
    if (value && !metric.empty()) {
      Mean& mean = metrics_[{kernel, metric}];
      mean.unit = unit;
      mean.sum += *value;
      ++mean.samples;
    }
  }

  ApplicationProfile profile() {
    ApplicationProfile profile{.source = "ncu", .command = where_};
    ProcessTimes process{.complete = true};
    for (auto& [name, work] : work_) {
      process.work.push_back(std::move(work));
    }
    profile.processes.push_back(std::move(process));
    for (const auto& [key, mean] : metrics_) {
      profile.metrics.push_back({.kernel = key.first,
                                 .name = key.second,
                                 .unit = mean.unit,
                                 .mean = mean.sum / static_cast<double>(mean.samples),
                                 .samples = mean.samples});
    }
    if (timed_.size() < launches_.size()) {
      profile.notes.push_back(fmt::format("{} of {} launches have no duration: let ncu collect gpu__time_duration.sum",
                                          launches_.size() - timed_.size(), launches_.size()));
    }
    return profile;
  }

 private:
  void add_time(const std::string& launch, const std::string& kernel, const std::string& unit,
                const std::optional<double>& value, const std::string& text, std::int64_t line) {
    constexpr double kMostNs = 1e15;  // of one launch: 11 days
    const std::optional<double> ns = value ? nanoseconds(*value, unit) : std::nullopt;
    if (!ns || !(*ns >= 0) || !(*ns < kMostNs)) {
      throw UserError(fmt::format("'{:.40}' '{:.40}' is no duration in {}:{}", text, unit, where_, line),
                      "ncu writes for example \"1,234\" with the unit \"ns\"");
    }
    timed_.insert(launch);
    GpuWork& work = work_[kernel];
    const auto rounded = static_cast<std::int64_t>(std::llround(*ns));
    work.name = kernel;
    work.min_ns = work.calls == 0 ? rounded : std::min(work.min_ns, rounded);
    work.max_ns = std::max(work.max_ns, rounded);
    work.total_ns += rounded;
    ++work.calls;
  }

  std::string where_;
  std::set<std::string> launches_;
  std::set<std::string> timed_;
  std::map<std::string, GpuWork> work_;
  std::map<std::pair<std::string, std::string>, Mean> metrics_;
};

}  // namespace

bool is_ncu_csv(std::string_view text) {
  std::int64_t line = 1;
  return find_header(text, line) != std::string_view::npos;
}

ApplicationProfile read_ncu_csv(std::string_view text, const std::string& where) {
  std::int64_t line = 1;
  const std::size_t start = find_header(text, line);
  if (start == std::string_view::npos) {
    throw UserError("'" + where + "' has no header line of ncu", "let ncu print it with --csv");
  }
  text.remove_prefix(start);
  const Row header = next_row(text, line);
  const std::size_t id = column(header, "ID");
  const std::size_t process = column(header, "Process ID");
  const std::size_t kernel = column(header, "Kernel Name");
  const std::size_t metric = column(header, "Metric Name");
  const std::size_t unit = column(header, "Metric Unit");
  const std::size_t value = column(header, "Metric Value");
  const bool details = metric < header.size() && value < header.size();
  Row units(header.size());
  Launches launches(where);
  while (!text.empty()) {
    const std::int64_t at = line;
    const Row row = next_row(text, line);
    if (row.size() == 1 || row.front().starts_with("==")) {
      continue;  // an empty line, or one of ncu's own messages
    }
    if (row.size() != header.size()) {
      throw UserError(
          fmt::format("a row of {} fields under a header of {} in {}:{}", row.size(), header.size(), where, at),
          "the file is cut off, or another program printed into it: use 'ncu --csv --log-file FILE'");
    }
    if (row[id].empty()) {
      units = row;  // the raw page's second line
      continue;
    }
    const std::string launch = (process < row.size() ? row[process] : "") + "/" + row[id];
    if (details) {
      launches.add(launch, row[kernel], row[metric], unit < row.size() ? row[unit] : "", row[value], at);
      continue;
    }
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i].find("__") != std::string::npos || i == kernel) {  // metrics have two underscores, facts have none
        launches.add(launch, row[kernel], i == kernel ? "" : header[i], units[i], row[i], at);
      }
    }
  }
  return launches.profile();
}

}  // namespace apo
