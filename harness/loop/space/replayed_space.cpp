// harness/loop/space/replayed_space.cpp - values to levels, measurements to costs.
#include "harness/loop/space/replayed_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/error.h"

namespace apo {
namespace {

// In nanoseconds; nothing for a unit that is none of time.
std::optional<double> unit_ns(const std::string& unit) {
  static const std::map<std::string, double> kUnits = {
      {"s", 1e9},       {"ms", 1e6},           {"us", 1e3},           {"ns", 1},
      {"seconds", 1e9}, {"milliseconds", 1e6}, {"microseconds", 1e3}, {"nanoseconds", 1}};
  const auto found = kUnits.find(unit);
  return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

double log_speedup_cost(const T4Result& result) {
  return -std::log(find_measurement(result, "speedup")->value);
}

bool all_have_speedups(const T4File& file) {
  return file.origin && std::ranges::all_of(file.results, [](const T4Result& result) {
           const T4Measurement* speedup = find_measurement(result, "speedup");
           return !is_valid(result) || (speedup != nullptr && speedup->value > 0);
         });
}

double log_time(const T4Result& result, const T4File& file, const std::string& path) {
  const std::string objective = result.objectives.empty() ? "time" : result.objectives.front();
  const auto fail = [&](const std::string& what) {
    throw UserError(fmt::format("{}: {}: {}", path, to_text(result.configuration), what),
                    "a space is searched by the time that its objective names, in s, ms, us or ns");
  };
  const T4Measurement* measured = find_measurement(result, objective);
  if (measured == nullptr) {
    fail("its objective '" + objective + "' is not among its measurements");
  }
  const auto unit = unit_ns(measured->unit.empty() ? file.time_unit : measured->unit);
  if (!unit || (measured->unit.empty() && !objective.starts_with("time"))) {
    fail("its objective '" + objective + "' is no time");
  }
  if (!(measured->value > 0)) {
    fail("its time is not positive");
  }
  return std::log(measured->value * *unit);
}

bool is_word(const T4Value& value) {
  return std::holds_alternative<std::string>(value);
}

double number_of_value(const T4Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  return std::get<bool>(value) ? 1 : 0;
}

// The values of one parameter in the order of their levels.
struct ValuesOfParameter {
  std::vector<T4Value> values;
  bool ordered = true;
};

ValuesOfParameter values_of(const T4File& file, const std::string& name) {
  std::set<T4Value> all;
  for (const T4Result& result : file.results) {
    all.insert(result.configuration.at(name));
  }
  ValuesOfParameter values{.values = {all.begin(), all.end()}, .ordered = std::ranges::none_of(all, is_word)};
  if (values.ordered) {  // integers and floats of one parameter by their size
    std::ranges::stable_sort(values.values, {}, number_of_value);
  }
  return values;
}

}  // namespace

RecordedSpace replayed_space(const T4File& file, const std::string& path) {
  if (file.results.empty()) {
    throw UserError(path + " holds no result", "'apo space VARIANT --output FILE' records a space");
  }
  std::map<std::string, ValuesOfParameter> values;
  std::vector<SearchParameter> parameters;
  for (const auto& [name, value] : file.results.front().configuration) {
    const ValuesOfParameter& its = values[name] = values_of(file, name);
    parameters.push_back({.name = name, .levels = its.values.size(), .ordered = its.ordered});
  }
  const bool by_speedup = all_have_speedups(file);
  std::vector<Levels> legal;
  std::vector<double> costs;
  for (const T4Result& result : file.results) {
    Levels& levels = legal.emplace_back();
    for (const auto& [name, value] : result.configuration) {
      const std::vector<T4Value>& its = values.at(name).values;
      levels.push_back(static_cast<std::size_t>(std::ranges::find(its, value) - its.begin()));
    }
    costs.push_back(!is_valid(result) ? std::numeric_limits<double>::infinity()
                    : by_speedup      ? log_speedup_cost(result)
                                      : log_time(result, file, path));
  }
  return {.space = SearchSpace(std::move(parameters), std::move(legal)), .costs = std::move(costs)};
}

}  // namespace apo
