// harness/research/brief_json.cpp - writes the brief; text that is not UTF-8 is replaced.
#include "harness/research/brief_json.h"

#include "harness/core/json/records_json.h"

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

}  // namespace

std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs) {
  Json document = {{"format", kRecordsFormat},
                   {"document", "brief"},
                   {"incumbent", to_document(inputs.incumbent)},
                   {"workload", inputs.diagnosis.profile.workload}};
  document.update(to_document(brief));
  document["ideas"] = list_of(unwritten_ideas(inputs, brief.bottlenecks), idea_document);
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace apo
