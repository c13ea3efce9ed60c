// harness/loop/exchange/t4.cpp - writes T4, a result a line.
#include "harness/loop/exchange/t4.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;

Document to_document(const T4Value& value) {
  return std::visit([](const auto& its) { return Document(its); }, value);
}

Document to_document(const T4Times& times) {
  return {{"compilation", times.compilation}, {"benchmark", times.benchmark},
          {"framework", times.framework},     {"search_algorithm", times.search_algorithm},
          {"validation", times.validation},   {"runtimes", times.runtimes}};
}

Document to_document(const T4Result& result) {
  Document configuration = Document::object();
  for (const auto& [name, value] : result.configuration) {
    configuration[name] = to_document(value);
  }
  Document measurements = Document::array();
  for (const T4Measurement& one : result.measurements) {
    APO_CHECK(std::isfinite(one.value));
    measurements.push_back({{"name", one.name}, {"value", one.value}, {"unit", one.unit}});
  }
  Document document = {{"timestamp", result.timestamp},
                       {"configuration", configuration},
                       {"objectives", result.objectives},
                       {"times", to_document(result.times)},
                       {"invalidity", to_string(result.invalidity)},
                       {"correctness", result.correctness},
                       {"measurements", measurements}};
  if (!result.reason.empty()) {
    document["reason"] = result.reason;
  }
  return document;
}

Document metadata_of(const T4File& file) {
  Document metadata = {{"timeunit", file.time_unit}};
  if (file.origin) {
    metadata["apo"] = {{"variant", file.origin->variant},   {"source_hash", file.origin->source_hash},
                       {"workload", file.origin->workload}, {"machine", file.origin->machine},
                       {"cache", file.origin->cache},       {"reference", file.origin->reference},
                       {"seed", file.origin->seed}};
  }
  return metadata;
}

}  // namespace

std::string_view to_string(Invalidity invalidity) {
  return word_of(kInvalidityWords, invalidity);
}

bool is_valid(const T4Result& result) {
  return result.invalidity == Invalidity::correct;
}

const T4Measurement* find_measurement(const T4Result& result, const std::string& name) {
  const auto found = std::ranges::find(result.measurements, name, &T4Measurement::name);
  return found == result.measurements.end() ? nullptr : &*found;
}

std::string to_text(const T4Configuration& configuration) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : configuration) {
    const auto* text = std::get_if<std::string>(&value);
    parts.push_back(name + "=" + (text != nullptr ? one_line(*text) : to_document(value).dump()));
  }
  return parts.empty() ? "the configuration without parameters" : join(parts, ", ");
}

std::string to_text(const T4File& file) {
  std::vector<std::string> lines;
  for (const T4Result& result : file.results) {
    lines.push_back("    " + to_document(result).dump(-1, ' ', false, Document::error_handler_t::replace));
  }
  return "{\n  \"schema_version\": \"1.0.0\",\n  \"metadata\": " + metadata_of(file).dump() + ",\n  \"results\": [\n" +
         join(lines, ",\n") + "\n  ]\n}\n";
}

}  // namespace apo
