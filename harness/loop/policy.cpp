// harness/loop/policy.cpp - parses campaign files and explains their mistakes.
#include "harness/loop/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/applications/application_document.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kKeys = {
    "family", "workloads", "baseline",     "iterations",   "candidates_per_iteration",
    "budget", "target",    "cache_policy", "judge_preset", "application_kernels",
    "layout", "launch",    "solo_run",     "application",  "comment"};
const std::vector<std::string> kJudgePresets = {"auto", "standard", "extended", "strict", "strict-extended", "precise"};

std::string hint(std::string_view word, const std::vector<std::string>& words, const std::string& more) {
  const std::string guess = did_you_mean(word, words);
  return guess.empty() ? more : guess + "  " + more;
}

// The place of a word in a file, for messages: "file:line".
class Places {
 public:
  Places(std::filesystem::path file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
  std::string of(const std::string& word) const {
    const std::size_t at = text_.find('"' + word + '"');
    if (at == std::string::npos) {
      return file_.string();
    }
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fmt::format("{}:{}", file_.string(), line);
  }

 private:
  std::filesystem::path file_;
  std::string text_;
};

std::string text_value(const Json& json, const std::string& key, const Places& places) {
  if (!json.at(key).is_string()) {
    throw UserError("'" + key + "' is not a string in " + places.of(key));
  }
  return json.at(key).get<std::string>();
}

int count_value(const Json& json, const std::string& key, const Places& places) {
  const Json& value = json.at(key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > 100000) {
    throw UserError("'" + key + "' is not a whole number from 1 to 100000 in " + places.of(key));
  }
  return value.get<int>();
}

void read_workloads(const Json& value, Policy& policy, const Places& places) {
  if (!value.is_array() || value.empty() ||
      !std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); })) {
    throw UserError("'workloads' is not a list of names in " + places.of("workloads"));
  }
  policy.workloads = value.get<std::vector<std::string>>();
}

void check_word(const std::string& word, const std::vector<std::string>& words, const std::string& what,
                const std::string& where) {
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    throw UserError("unknown " + what + " '" + word + "'" + where, hint(word, words, "known: " + join(words, ", ")));
  }
}

void read_keys(const Json& json, Policy& policy, const Places& places) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      throw UserError("unknown key '" + key + "' in " + places.of(key),
                      hint(key, kKeys, "known: " + join(kKeys, ", ")));
    }
    if (key == "workloads") {
      read_workloads(value, policy, places);
    } else if (key == "iterations") {
      policy.iterations = count_value(json, key, places);
    } else if (key == "candidates_per_iteration") {
      policy.candidates_per_iteration = count_value(json, key, places);
    } else if (key == "baseline") {
      policy.baseline = text_value(json, key, places);
    } else if (key == "cache_policy") {
      policy.cache_policy = checked_cache_policy(text_value(json, key, places), " in " + places.of(key));
    } else if (key == "judge_preset") {
      policy.judge_preset = text_value(json, key, places);
    } else if (key == "layout") {
      policy.layout = checked_layout(text_value(json, key, places), " in " + places.of(key));
    } else if (key == "launch") {
      policy.launch = checked_launch_form(text_value(json, key, places), " in " + places.of(key));
    } else if (key == "solo_run") {
      policy.solo_run_s = solo_run_seconds(text_value(json, key, places), "'solo_run'", " in " + places.of(key));
    } else if (key == "target") {
      const std::string target = text_value(json, key, places);
      check_word(target, {"host", "cuda"}, "target", " in " + places.of(key));
      policy.target = target == "cuda" ? Target::cuda : Target::host;
      policy.target_named = true;
    } else if (key == "application_kernels") {
      policy.application_kernels = text_value(json, key, places);
      try {
        const NamePattern checked(policy.application_kernels);
      } catch (const UserError& error) {
        throw UserError(std::string(error.what()) + " in " + places.of(key), error.hint());
      }
    } else if (key == "application") {
      policy.application = read_application(value, " in " + places.of(key));
    } else if (key == "budget") {
      policy.budget_s = budget_seconds(text_value(json, key, places), "budget", " in " + places.of(key));
    }
  }
}

}  // namespace

void check_candidate_judge(const std::string& word) {
  std::vector<std::string> words = kJudgePresets;
  words.emplace_back(kQuickPreset);
  check_word(word, words, "judge preset", "");
}

double budget_seconds(const std::string& text, const std::string& what, const std::string& where) {
  if (const auto seconds = parse_duration(text)) {
    return *seconds;
  }
  if (parse_double(text).value_or(0) > 0) {
    throw UserError(fmt::format("{} '{}' has no unit{}", what, text, where),
                    fmt::format("write {0}s, {0}m or {0}h", text));
  }
  throw UserError(fmt::format("{} '{}' is no time{}", what, text, where), "write for example 90s, 10m or 2h");
}

double solo_run_seconds(const std::string& text, const std::string& what, const std::string& where) {
  constexpr double kLeastS = 0.01;
  constexpr double kMostS = 600;
  const auto seconds = parse_duration(text);
  if (!seconds || *seconds < kLeastS || *seconds > kMostS) {
    throw UserError(what + " is '" + text + "', no time from 10ms to 10m" + where,
                    "write for example 2s: shorter ones say less, because a clock takes time to settle");
  }
  return *seconds;
}

Policy default_policy(std::string_view name) {
  const Family& family = known_family(name);
  Policy policy;
  policy.family = family.name;
  policy.workloads = {family.workloads.front().name};
  policy.workload_class = family.workloads.front().workload_class;
  return policy;
}

Policy load_policy(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const Places places(file, text);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UserError("'" + file.string() + "' is not JSON: " + error.what());
  }
  if (!json.is_object() || !json.contains("family")) {
    throw UserError("'" + file.string() + "' is not a campaign: it has no \"family\"",
                    "see '" + (home_folder() / "experiments" / "default.json").string() + "' for an example");
  }
  const std::string name = text_value(json, "family", places);
  const Family& family = known_family(name, " in " + places.of(name));
  Policy policy = default_policy(name);
  read_keys(json, policy, places);
  for (const std::string& workload : policy.workloads) {
    static_cast<void>(known_workload(family, workload, " in " + places.of(workload)));
  }
  complete_policy(policy, " in " + file.string());
  return policy;
}

void complete_policy(Policy& policy, const std::string& where) {
  const Family& family = *find_family(policy.family);
  check_word(policy.judge_preset, kJudgePresets, "judge preset", where);
  std::vector<std::string> seen;
  for (std::string& name : policy.workloads) {
    const Workload& workload = known_workload(family, name, where);
    name = workload.name;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw UserError("workload '" + name + "' is given twice" + where);
    }
    seen.push_back(name);
    if (seen.size() == 1) {
      policy.workload_class = workload.workload_class;
    } else if (workload.workload_class != policy.workload_class) {
      throw UserError(
          "workloads of two classes ('" + policy.workload_class + "' and '" + workload.workload_class + "')" + where,
          "an incumbent is kept for one class: run one campaign a class");
    }
  }
}

}  // namespace apo
