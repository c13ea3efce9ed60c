// harness/research/brief_json.cpp - writes the brief; text that is not UTF-8 is replaced.
#include "harness/research/brief_json.h"

#include "harness/core/json/records_json.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

Json idea_document(const Idea& idea) {
  return {{"technique", idea.technique.name},
          {"attacks", idea.attacks},
          {"precondition", idea.technique.precondition},
          {"cost", idea.technique.cost},
          {"excludes", idea.technique.excludes},
          {"low", idea.technique.low},
          {"high", idea.technique.high},
          {"source", idea.technique.source},
          {"score", number_or_null(idea.score)}};
}

Json calibration_document(const Calibration& calibration) {
  return {{"count", calibration.count},
          {"hit_rate", number_or_null(calibration.hit_rate)},
          {"mean_log_error", number_or_null(calibration.mean_log_error)},
          {"mean_abs_log_error", number_or_null(calibration.mean_abs_log_error)},
          {"factor", number_or_null(calibration.factor)}};
}

}  // namespace

std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs) {
  Json document = {{"format", kRecordsFormat},
                   {"document", "brief"},
                   {"incumbent", to_document(inputs.incumbent)},
                   {"workload", inputs.diagnosis.profile.workload},
                   {"calibration", calibration_document(calibration_of(Evidence(inputs)))}};
  document.update(to_document(brief));
  document["ideas"] = list_of(unwritten_ideas(inputs, brief.bottlenecks), idea_document);
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace apo
