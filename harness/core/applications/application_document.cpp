// harness/core/applications/application_document.cpp - reads a declaration strictly, and explains its mistakes.
#include "harness/core/applications/application_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/error.h"
#include "harness/core/json/codec.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Declared = nlohmann::ordered_json;
using Names = std::vector<std::string>;

constexpr int kMostSteps = 100'000'000;

// One object of the declaration, and what messages call it.
struct Part {
  const Declared& json;
  std::string what;
  std::string where;

  bool has(const char* key) const { return json.contains(key); }
  [[noreturn]] void refuse(const char* key, const std::string& why, const std::string& hint = "") const {
    throw UserError(fmt::format("'{}' of {} {}{}", key, what, why, where), hint);
  }
  void require(bool holds, const char* key, const std::string& why, const std::string& hint = "") const {
    if (!holds) {
      refuse(key, why, hint);
    }
  }
};

void check_keys(const Part& part, const Names& keys, const Names& needed) {
  if (!part.json.is_object()) {
    throw UserError(part.what + " is not an object" + part.where);
  }
  for (const auto& entry : part.json.items()) {
    if (std::ranges::find(keys, entry.key()) == keys.end()) {
      const std::string guess = did_you_mean(entry.key(), keys);
      throw UserError(fmt::format("unknown key '{}' of {}{}", entry.key(), part.what, part.where),
                      (guess.empty() ? "" : guess + "  ") + "known: " + join(keys, ", "));
    }
  }
  for (const std::string& key : needed) {
    part.require(part.json.contains(key), key.c_str(), "is missing");
  }
}

// The record with the values that the file gives, by the names of its members.
template <class Record>
Record record_of(const Part& part, const Declared& values) {
  Declared whole = json_of(Record{});
  for (const auto& [key, value] : values.items()) {
    if (whole.contains(key)) {
      whole[key] = value;
    }
  }
  Record record;
  try {
    read_json(whole, record);
  } catch (const BadField& error) {
    throw UserError(fmt::format("{} is wrong: {}{}", part.what, error.what(), part.where));
  }
  return record;
}

// A list of words, or a text for the shell.
Declared command_of(const Part& part, const char* key) {
  const Declared& value = part.json[key];
  if (value.is_string()) {
    return {"sh", "-c", value};
  }
  part.require(value.is_array() && !value.empty(), key, "is not a list with an element or more");
  part.require(std::ranges::all_of(value, [](const Declared& word) { return word.is_string(); }), key,
               "is neither a text nor a list of words");
  return value;
}

double seconds_of(const Part& part, const char* key) {
  const auto seconds = part.json[key].is_string() ? parse_duration(part.json[key].get<std::string>()) : std::nullopt;
  part.require(seconds.has_value(), key, "is no time", "write for example \"90s\" or \"10m\"");
  return *seconds;
}

ApplicationMetric read_metric_declaration(const Declared& json, const std::string& where) {
  const Part part{json, "a metric of the application", where};
  check_keys(part, {"name", "unit", "better", "role", "margin", "margin_percent", "last"}, {"name", "role"});
  part.require(json["role"] == "speed" || json["role"] == "quality", "role", "is neither \"speed\" nor \"quality\"");
  ApplicationMetric metric = record_of<ApplicationMetric>(part, json);
  const Declared better = json.value("better", Declared("lower"));
  part.require(better == "lower" || better == "higher", "better", "is neither \"lower\" nor \"higher\"");
  metric.higher_is_better = better == "higher";
  part.require(!metric.name.empty(), "name", "is no text");
  part.require(metric.name != "apo_step" && metric.name != "seconds", "name",
               "is '" + metric.name + "', which every line of a step has for apo itself");
  if (metric.role == MetricRole::quality) {
    metric.margin_is_share = part.has("margin_percent");
    part.require(metric.margin_is_share != part.has("margin"), "margin", "or 'margin_percent' is needed, and one alone",
                 "it says how much worse the quality may get before a gain in speed counts for nothing");
    const Declared& margin = json[metric.margin_is_share ? "margin_percent" : "margin"];
    part.require(margin.is_number() && margin > 0, metric.margin_is_share ? "margin_percent" : "margin",
                 "is not a positive number");
    metric.margin = margin.get<double>() / (metric.margin_is_share ? 100 : 1);
    part.require(metric.last >= (part.has("last") ? 1 : 0), "last", "is not a whole number from 1");
    return metric;
  }
  part.require(!part.has("margin") && !part.has("margin_percent") && !part.has("last"), "role",
               "is speed, which has neither a margin nor last steps");
  metric.unit = metric.higher_is_better ? metric.unit : "s";  // it is apo's own clock
  return metric;
}

Declared read_metrics(const Part& part) {
  part.require(part.json["metrics"].is_array(), "metrics", "is not a list with an element or more");
  std::vector<ApplicationMetric> metrics;
  std::set<std::string> names;
  for (const Declared& one : part.json["metrics"]) {
    metrics.push_back(read_metric_declaration(one, part.where));
    part.require(names.insert(metrics.back().name).second, "metrics",
                 "has two of the name '" + metrics.back().name + "'");
  }
  part.require(std::ranges::count(metrics, MetricRole::speed, &ApplicationMetric::role) == 1, "metrics",
               "needs one with the role \"speed\", and one alone");
  part.require(
      metrics.size() > 1, "metrics", "needs one with the role \"quality\"",
      "a program that computes less is faster: the quality, for example the loss, says whether it still works");
  return json_of(metrics);
}

void check(const DeclaredApplication& application, const Part& part) {
  const auto from = [&](const char* key, int value, int least) {
    part.require(value >= least && value <= kMostSteps, key, fmt::format("is not a whole number from {}", least));
  };
  from("warmup_steps", application.warmup_steps, 1);
  from("steps", application.steps, 1);
  from("pairs", application.pairs, kLeastPairs);
  const std::set<std::int64_t> seeds(application.seeds.begin(), application.seeds.end());
  part.require(!seeds.empty() && seeds.size() == application.seeds.size(), "seeds",
               "is no list of different whole numbers");
  part.require(is_identifier(application.dispatch_variable), "dispatch_variable",
               "is no name of an environment variable");
  for (const ApplicationMetric& metric : application.metrics) {
    part.require(metric.last <= application.steps, "metrics",
                 fmt::format("has a mean over the last {} of {} steps", metric.last, application.steps));
  }
}

}  // namespace

DeclaredApplication read_application(const nlohmann::json& json, const std::string& where) {
  const Declared declared = json;
  const Part part{declared, "the application", where};
  check_keys(
      part,
      {"command", "prepare", "dispatch_variable", "metrics", "warmup_steps", "steps", "seeds", "pairs", "time_limit"},
      {"command", "metrics", "steps", "seeds"});
  Declared values = declared;
  for (const char* key : {"command", "prepare"}) {
    if (part.has(key)) {
      values[key] = command_of(part, key);
    }
  }
  if (part.has("time_limit")) {
    values["time_limit_s"] = seconds_of(part, "time_limit");
  }
  values["metrics"] = read_metrics(part);
  const auto application = record_of<DeclaredApplication>(part, values);
  check(application, part);
  return application;
}

DeclaredApplication load_application(const std::string& file) {
  const auto json = nlohmann::json::parse(read_file(file), nullptr, false);
  if (!json.is_object() || !json.contains("application")) {
    throw UserError("'" + file + "' declares no application: it is no JSON object with the key \"application\"",
                    "docs/applications.md shows one");
  }
  return read_application(json.at("application"), " in " + file);
}

}  // namespace apo
