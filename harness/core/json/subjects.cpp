// harness/core/json/subjects.cpp - what is tried, where, and with what.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

Json to_document(const Configuration& configuration) {
  return {{"label", configuration.label()},
          {"variant", configuration.variant},
          {"settings", json_of(configuration.settings)}};
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
          {"prediction", document_of(variant.prediction)},
          {"requires", variant.requires_expression},
          {"tunables", list_of(variant.tunables, tunable_document)},
          {"path", variant.path},
          {"source_hash", variant.source_hash}};
}

Json to_document(const Machine& record) {
  Json document =
      APO_DOCUMENT(id, target, model, cores, isa, driver, kernel, governor, l2_bytes, l3_bytes, memory_bytes, facts);
  for (const char* bytes : {"l2_bytes", "l3_bytes", "memory_bytes"}) {
    document[bytes] = document[bytes] > 0 ? document[bytes] : Json(nullptr);
  }
  return document;
}

Json to_document(const Build& record) {
  Json document =
      APO_DOCUMENT(outcome, evidence, key, object_hash, code_hash, flags, toolchain, seconds, from_cache, resources);
  document["seconds"] = positive_or_null(record.seconds);
  return document;
}

}  // namespace apo
