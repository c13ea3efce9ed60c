// harness/core/applications/application_document.cpp - reads a declaration strictly, and explains its mistakes.
#include "harness/core/applications/application_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Declared = nlohmann::json;
using Names = std::vector<std::string>;

const Names kApplicationKeys = {"command", "prepare", "dispatch_variable", "metrics",    "warmup_steps", "steps",
                                "seeds",   "pairs",   "fixed_time",        "time_limit", "kernels"};
const Names kMetricKeys = {"name", "unit", "better", "role", "margin", "margin_percent", "last"};
// Keys of every line of a step, with a meaning of their own.
const std::set<std::string> kStepKeys = {"apo_step", "seconds"};

// One object of the declaration, and what messages call it.
class Part {
 public:
  Part(const Declared& json, std::string what, std::string where, const Names& keys)
      : json_(json), what_(std::move(what)), where_(std::move(where)) {
    if (!json.is_object()) {
      throw UserError(what_ + " is not an object" + where_);
    }
    for (const auto& entry : json.items()) {
      if (std::find(keys.begin(), keys.end(), entry.key()) == keys.end()) {
        const std::string guess = did_you_mean(entry.key(), keys);
        throw UserError(fmt::format("unknown key '{}' of {}{}", entry.key(), what_, where_),
                        (guess.empty() ? "" : guess + "  ") + "known: " + join(keys, ", "));
      }
    }
  }

  bool has(const char* key) const { return json_.contains(key); }

  [[noreturn]] void refuse(const char* key, const std::string& why, const std::string& hint = "") const {
    throw UserError(fmt::format("'{}' of {} {}{}", key, what_, why, where_), hint);
  }

  std::string text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string() || found->get<std::string>().empty()) {
      refuse(key, has(key) ? "is no text" : "is missing");
    }
    return found->get<std::string>();
  }

  std::string text_or(const char* key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }

  int count(const char* key, int least, std::optional<int> otherwise = {}) const {
    constexpr int kMost = 100'000'000;
    const auto found = json_.find(key);
    if (found == json_.end() && otherwise) {
      return *otherwise;
    }
    if (found == json_.end() || !found->is_number_integer() || *found < least || *found > kMost) {
      refuse(key, has(key) ? fmt::format("is not a whole number from {}", least) : "is missing");
    }
    return found->get<int>();
  }

  double positive(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number() || !(found->get<double>() > 0)) {
      refuse(key, "is not a positive number");
    }
    return found->get<double>();
  }

  double duration(const char* key, double otherwise) const {
    const auto seconds = has(key) ? parse_duration(text(key)) : otherwise;
    if (!seconds) {
      refuse(key, "is no time", "write for example \"90s\" or \"10m\"");
    }
    return *seconds;
  }

  const Declared& list(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_array() || found->empty()) {
      refuse(key, has(key) ? "is not a list with an element or more" : "is missing");
    }
    return *found;
  }

  // A list of words, or a text for the shell.
  std::vector<std::string> command(const char* key) const {
    if (has(key) && json_.at(key).is_string()) {
      return {"sh", "-c", text(key)};
    }
    std::vector<std::string> words;
    for (const Declared& word : list(key)) {
      if (!word.is_string()) {
        refuse(key, "is neither a text nor a list of words");
      }
      words.push_back(word.get<std::string>());
    }
    return words;
  }

 private:
  const Declared& json_;
  std::string what_;
  std::string where_;
};

MetricRole role_of(const Part& part) {
  const auto role = metric_role_from(part.text("role"));
  if (!role) {
    part.refuse("role", "is neither \"speed\" nor \"quality\"");
  }
  return *role;
}

void read_margin(const Part& part, ApplicationMetric& metric) {
  if (part.has("margin") == part.has("margin_percent")) {
    part.refuse("margin", "or 'margin_percent' is needed, and one alone",
                "it says how much worse the quality may get before a gain in speed counts for nothing");
  }
  metric.margin_is_share = part.has("margin_percent");
  metric.margin = metric.margin_is_share ? part.positive("margin_percent") / 100 : part.positive("margin");
}

ApplicationMetric read_metric_declaration(const Declared& json, const std::string& where) {
  const Part part(json, "a metric of the application", where, kMetricKeys);
  ApplicationMetric metric{.name = part.text("name"), .role = role_of(part)};
  metric.unit = part.text_or("unit", "");
  const std::string better = part.text_or("better", "lower");
  if (better != "lower" && better != "higher") {
    part.refuse("better", "is neither \"lower\" nor \"higher\"");
  }
  metric.higher_is_better = better == "higher";
  if (kStepKeys.contains(metric.name)) {
    part.refuse("name", "is '" + metric.name + "', which every line of a step has for apo itself");
  }
  if (metric.role == MetricRole::quality) {
    read_margin(part, metric);
    metric.last = part.count("last", 1, 0);
  } else if (part.has("margin") || part.has("margin_percent") || part.has("last")) {
    part.refuse("role", "is speed, which has neither a margin nor last steps");
  } else if (!metric.higher_is_better) {
    metric.unit = "s";  // it is apo's own clock
  }
  return metric;
}

std::vector<ApplicationMetric> read_metrics(const Part& part, const std::string& where) {
  std::vector<ApplicationMetric> metrics;
  std::set<std::string> names;
  int speeds = 0;
  for (const Declared& one : part.list("metrics")) {
    metrics.push_back(read_metric_declaration(one, where));
    speeds += metrics.back().role == MetricRole::speed ? 1 : 0;
    if (!names.insert(metrics.back().name).second) {
      part.refuse("metrics", "has two of the name '" + metrics.back().name + "'");
    }
  }
  if (speeds != 1) {
    part.refuse("metrics", "needs one with the role \"speed\", and one alone");
  }
  if (metrics.size() < 2) {
    part.refuse(
        "metrics", "needs one with the role \"quality\"",
        "a program that computes less is faster: the quality, for example the loss, says whether it still works");
  }
  return metrics;
}

std::vector<std::int64_t> read_seeds(const Part& part) {
  std::vector<std::int64_t> seeds;
  for (const Declared& seed : part.list("seeds")) {
    if (!seed.is_number_integer() || std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      part.refuse("seeds", "is no list of different whole numbers");
    }
    seeds.push_back(seed.get<std::int64_t>());
  }
  return seeds;
}

}  // namespace

DeclaredApplication read_application(const nlohmann::json& json, const std::string& where) {
  const Part part(json, "the application", where, kApplicationKeys);
  const DeclaredApplication usual;
  const DeclaredApplication application{.command = part.command("command"),
                                        .prepare = part.has("prepare") ? part.command("prepare") : usual.prepare,
                                        .dispatch_variable = part.text_or("dispatch_variable", usual.dispatch_variable),
                                        .metrics = read_metrics(part, where),
                                        .warmup_steps = part.count("warmup_steps", 1, usual.warmup_steps),
                                        .steps = part.count("steps", 1),
                                        .seeds = read_seeds(part),
                                        .pairs = part.count("pairs", kLeastPairs, usual.pairs),
                                        .fixed_time_s = part.duration("fixed_time", usual.fixed_time_s),
                                        .time_limit_s = part.duration("time_limit", usual.time_limit_s),
                                        .kernels = part.text_or("kernels", usual.kernels)};
  if (!is_identifier(application.dispatch_variable)) {
    part.refuse("dispatch_variable", "is no name of an environment variable");
  }
  for (const ApplicationMetric& metric : application.metrics) {
    if (metric.last > application.steps) {
      part.refuse("metrics", fmt::format("has a mean over the last {} of {} steps", metric.last, application.steps));
    }
  }
  return application;
}

DeclaredApplication load_application(const std::string& file) {
  const Declared json = Declared::parse(read_file(file), nullptr, false);
  if (!json.is_object() || !json.contains("application")) {
    throw UserError("'" + file + "' declares no application: it is no JSON object with the key \"application\"",
                    "docs/applications.md shows one");
  }
  DeclaredApplication application = read_application(json.at("application"), " in " + file);
  if (application.kernels.empty() && json.contains("application_kernels") && json["application_kernels"].is_string()) {
    application.kernels = json["application_kernels"].get<std::string>();
  }
  return application;
}

}  // namespace apo
