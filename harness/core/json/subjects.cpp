// harness/core/json/subjects.cpp - what is tried, where, and with what.
#include "harness/core/json/codec.h"
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

Json to_document(const Configuration& configuration) {
  return {{"label", configuration.label()},
          {"variant", configuration.variant},
          {"settings", configuration.settings.empty() ? Json::object() : Json(configuration.settings)}};
}

Json to_document(const Prediction& prediction) {
  if (!has_prediction(prediction)) {
    return nullptr;
  }
  return {{"low", prediction.low},
          {"high", prediction.high},
          {"relative_to", prediction.relative_to},
          {"source", to_string(prediction.source)},
          {"because", prediction.because}};
}

Json to_document(const Variant& variant) {
  const auto tunable_document = [](const Tunable& one) {
    Json document = {{"name", one.name}, {"values", one.values}};
    if (!one.technique.empty()) {
      document["technique"] = one.technique;
    }
    return document;
  };
  return {{"id", variant.id()},
          {"target", to_string(variant.target)},
          {"techniques", variant.techniques},
          {"parent", variant.parent},
          {"idea", variant.idea},
          {"prediction", variant.prediction ? to_document(*variant.prediction) : Json(nullptr)},
          {"requires", variant.requires_expression},
          {"tunables", list_of(variant.tunables, tunable_document)},
          {"path", variant.path},
          {"source_hash", variant.source_hash}};
}

Json to_document(const Machine& machine) {
  const auto bytes = [](std::int64_t count) { return count > 0 ? Json(count) : Json(nullptr); };
  return {{"id", machine.id},
          {"target", to_string(machine.target)},
          {"model", machine.model},
          {"cores", machine.cores},
          {"isa", machine.isa},
          {"driver", machine.driver},
          {"kernel", machine.kernel},
          {"governor", machine.governor},
          {"l2_bytes", bytes(machine.l2_bytes)},
          {"l3_bytes", bytes(machine.l3_bytes)},
          {"memory_bytes", bytes(machine.memory_bytes)},
          {"facts", machine.facts}};
}

Json to_document(const Build& build) {
  return {{"outcome", to_string(build.outcome)},
          {"evidence", build.evidence},
          {"key", build.key},
          {"object_hash", build.object_hash},
          {"code_hash", build.code_hash},
          {"flags", build.flags},
          {"toolchain", json_of(build.toolchain)},
          {"seconds", positive_or_null(build.seconds)},
          {"from_cache", build.from_cache},
          {"resources", build.resources}};
}

}  // namespace apo
