// harness/applications/expectation.cpp - compares two dispatch tables row by row, then shares and intervals.
#include "harness/applications/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/text.h"
#include "harness/profile/application/application_summary.h"
#include "harness/research/diagnosis/diagnosis.h"

namespace apo {
namespace {

using Json = nlohmann::json;

// A row in which B differs from A.
struct Difference {
  std::string family;
  Json row_b;
  Json configuration_a;
};

// What serves that machine, by family: its own rows, else those of the first device of its model, else of its
// instruction set, and the fallbacks, as the header chooses.
void add_rows(const Json& family, const Machine& machine, std::map<std::string, Json>& rows) {
  Json found;
  for (const auto& [key, own] : {std::pair("id", machine.id), {"model", machine.model}, {"isa", machine.isa}}) {
    for (const Json& device : family.at("devices")) {
      if (found.is_null() && !own.empty() && device.at("device").value(key, "") == own) {
        found = device.at("rows");
      }
    }
  }
  for (const Json& row : family.value("fallbacks", Json::array())) {
    found.push_back(row);
  }
  if (!found.is_null()) {
    rows.emplace(family.at("family").get<std::string>(), found);
  }
}

std::map<std::string, Json> rows_of(const std::vector<std::string>& documents, const Machine& machine) {
  std::map<std::string, Json> rows;
  for (const std::string& document : documents) {
    const Json parsed = Json::parse(document);
    for (const Json& family : parsed.at("families")) {
      add_rows(family, machine, rows);
    }
  }
  return rows;
}

// The row of the class, else the first fallback; null where there is neither.
Json configuration_for(const Json& rows, const Json& workload_class) {
  for (const Json& row : rows) {
    if (row.at("class") == workload_class || row.at("class").is_null()) {
      return row.at("configuration");
    }
  }
  return nullptr;
}

std::vector<Difference> differences_of(const std::vector<std::string>& a, const std::vector<std::string>& b,
                                       const Machine& machine) {
  const std::map<std::string, Json> rows_a = rows_of(a, machine);
  std::vector<Difference> differences;
  for (const auto& [family, rows] : rows_of(b, machine)) {
    const auto other = rows_a.find(family);
    for (const Json& row : rows) {
      const Json before = other == rows_a.end() ? Json() : configuration_for(other->second, row.at("class"));
      if (before != row.at("configuration")) {
        differences.push_back({family, row, before});
      }
    }
  }
  return differences;
}

std::optional<Expectation> effect_in(const Json& figures) {
  for (const char* key : {"speedup", "lower", "upper"}) {
    if (!figures.at(key).is_number() || !(figures.at(key).get<double>() > 0)) {
      return std::nullopt;
    }
  }
  return Expectation{.kernel_speedup = figures.at("speedup").get<double>(),
                     .kernel_lower = figures.at("lower").get<double>(),
                     .kernel_upper = figures.at("upper").get<double>()};
}

// A certification says it of the whole campaign, and the judgement of one step of it.
std::optional<Expectation> measured_effect(const Difference& difference) {
  const Json& evidence = difference.row_b.at("evidence");
  if (evidence.at("kind") != "measured") {
    return std::nullopt;
  }
  for (const Json& one : evidence.at("certifications")) {
    if (one.at("baseline") == difference.configuration_a &&
        one.at("cache_policy") == evidence.at("judgement").at("cache_policy")) {
      return effect_in(one);
    }
  }
  return evidence.at("replaced") == difference.configuration_a ? effect_in(evidence.at("judgement")) : std::nullopt;
}

std::string label(const Json& configuration) {
  return configuration.is_object() ? configuration.at("label").get<std::string>() : "nothing";
}

std::string name_of(const Difference& difference) {
  return fmt::format("{} over {}", label(difference.row_b.at("configuration")), label(difference.configuration_a));
}

Expectation nothing_expected(const std::string& why) {
  return {.missing = why};
}

}  // namespace

Expectation kernel_effect(const std::vector<std::string>& documents_a, const std::vector<std::string>& documents_b,
                          const Machine& machine) {
  if (documents_a.empty() || documents_b.empty()) {
    return nothing_expected("a dispatch has no document of 'apo export'");
  }
  try {
    const std::vector<Difference> differences = differences_of(documents_a, documents_b, machine);
    if (differences.size() != 1) {
      return nothing_expected(differences.empty()
                                  ? "the dispatches do not differ in what they have for this machine"
                                  : fmt::format("the dispatches differ in {} rows", differences.size()));
    }
    auto effect = measured_effect(differences.front());
    if (!effect) {
      return nothing_expected("nothing in B's table says how much faster it is: " + name_of(differences.front()));
    }
    effect->kernel = name_of(differences.front());
    return *effect;
  } catch (const Json::exception&) {
    return nothing_expected("this apo does not know a document of a dispatch");
  }
}

Expectation expectation_of(Expectation expectation, const std::string& kernels, const RecordedSteps& recorded,
                           double step_s, const Figure* measured) {
  if (!expectation.missing.empty()) {
    return expectation;
  }
  if (kernels.empty()) {
    return nothing_expected("the application does not name its kernels (\"kernels\" or \"application_kernels\")");
  }
  if (!recorded.missing.empty()) {
    return nothing_expected("no step was recorded: " + recorded.missing);
  }
  const double kernels_s = 1e-9 * static_cast<double>(time_of(recorded.summary, NamePattern(kernels)));
  expectation.share = std::min(1.0, kernels_s / recorded.steps / step_s);
  if (!(expectation.share > 0)) {
    return nothing_expected(fmt::format("nothing that A runs on a GPU is called '{}'", kernels));
  }
  expectation.profile = recorded.profile;
  expectation.speedup = amdahl(expectation.share, expectation.kernel_speedup);
  expectation.lower = amdahl(expectation.share, expectation.kernel_lower);
  expectation.upper = amdahl(expectation.share, expectation.kernel_upper);
  expectation.agrees = measured != nullptr &&
                       std::max(expectation.lower, measured->lower) <= std::min(expectation.upper, measured->upper);
  return expectation;
}

}  // namespace apo
