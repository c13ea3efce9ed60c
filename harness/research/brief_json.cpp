// harness/research/brief_json.cpp - writes the brief; text that is not UTF-8 is replaced, numbers are finite.
#include "harness/research/brief_json.h"

#include <nlohmann/json.hpp>

#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

using nlohmann::json;

json to_json(const Configuration& configuration) {
  json settings = json::object();
  for (const auto& [name, value] : configuration.settings) {
    settings[name] = value;
  }
  return {{"variant", configuration.variant}, {"settings", settings}};
}

json to_json(const Prediction& prediction) {
  return {{"low", prediction.low},
          {"high", prediction.high},
          {"relative_to", prediction.relative_to},
          {"because", prediction.because}};
}

json to_json(const Candidate& candidate) {
  return {{"configuration", to_json(candidate.configuration)},
          {"techniques", candidate.techniques},
          {"prediction", to_json(candidate.prediction)},
          {"attacks", candidate.attacks},
          {"score", candidate.score},
          {"why", candidate.why},
          {"origin", candidate.origin}};
}

json to_json(const Idea& idea) {
  return {{"technique", idea.technique.name},
          {"attacks", idea.attacks},
          {"precondition", idea.technique.precondition},
          {"cost", idea.technique.cost},
          {"excludes", idea.technique.excludes},
          {"low", idea.technique.low},
          {"high", idea.technique.high},
          {"source", idea.technique.source},
          {"score", idea.score}};
}

json to_json(const Calibration& calibration) {
  return {{"count", calibration.count},
          {"hit_rate", calibration.hit_rate},
          {"mean_log_error", calibration.mean_log_error},
          {"mean_abs_log_error", calibration.mean_abs_log_error},
          {"factor", calibration.factor}};
}

}  // namespace

std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs) {
  json document = {{"format", 1},
                   {"incumbent", to_json(inputs.incumbent)},
                   {"workload", inputs.diagnosis.profile.workload},
                   {"calibration", to_json(calibration_of(Evidence(inputs)))},
                   {"bottlenecks", json::array()},
                   {"ranked", json::array()},
                   {"left_out", json::array()},
                   {"ideas", json::array()}};
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    json one = {{"name", bottleneck.name},
                {"kind", to_string(bottleneck.kind)},
                {"evidence", bottleneck.evidence},
                {"bound", bottleneck.bound}};
    if (bottleneck.line > 0) {
      one["line"] = bottleneck.line;  // of the incumbent's source
    }
    document["bottlenecks"].push_back(std::move(one));
  }
  for (const Candidate& candidate : brief.ranked) {
    document["ranked"].push_back(to_json(candidate));
  }
  for (const LeftOut& left_out : brief.left_out) {
    document["left_out"].push_back({{"configuration", to_json(left_out.configuration)}, {"why", left_out.why}});
  }
  for (const Idea& idea : unwritten_ideas(inputs, brief.bottlenecks)) {
    document["ideas"].push_back(to_json(idea));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace apo
