// reports/formats/csv.cpp - the experiments as a table for other programs (RFC 4180).
#include "harness/core/text.h"
#include "reports/formats/escape.h"
#include "reports/render.h"

namespace apo::report {
namespace {

std::string positive_field(double value) {
  return value > 0 ? csv_field(value) : "";
}

struct Column {
  std::string name;
  std::string value;
};

std::vector<Column> columns_of(const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  const bool timed = has_effect(experiment);
  const bool predicted = has_prediction(experiment.prediction);
  const GateResult* failed = failed_gate(experiment);
  const auto when_timed = [&](double value) { return timed ? csv_field(value) : ""; };
  return {{"experiment", std::to_string(experiment.id)},
          {"index", std::to_string(experiment.index)},
          {"iteration", std::to_string(experiment.iteration)},
          {"started_at", csv_field(experiment.started_at)},
          {"candidate", csv_field(experiment.candidate.label())},
          {"incumbent", csv_field(experiment.incumbent.label())},
          {"techniques", csv_field(join(experiment.techniques, " "))},
          {"workloads", csv_field(join(experiment.workloads, " "))},
          {"predicted_low", predicted ? csv_field(experiment.prediction.low) : ""},
          {"predicted_high", predicted ? csv_field(experiment.prediction.high) : ""},
          {"speedup", when_timed(judgement.speedup())},
          {"lower", when_timed(judgement.speedup_lower())},
          {"upper", when_timed(judgement.speedup_upper())},
          {"confidence", when_timed(judgement.confidence)},
          {"stage", timed ? std::string(to_string(effect_stage(experiment))) : ""},
          {"rounds", std::to_string(judgement.rounds)},
          {"samples", std::to_string(judgement.samples)},
          {"seconds", positive_field(judgement.seconds)},
          {"incumbent_ns", positive_field(judgement.incumbent_ns)},
          {"candidate_ns", timed ? positive_field(judgement.candidate_ns) : ""},
          {"outcome", std::string(to_string(experiment.outcome))},
          {"verdict", std::string(to_string(judgement.verdict))},
          {"reason", std::string(to_string(judgement.reason))},
          {"sentence", csv_field(judgement.sentence)},
          {"failed_gate", failed != nullptr ? csv_field(failed->gate) : ""},
          {"failed_gate_evidence", failed != nullptr ? csv_field(failed->evidence) : ""},
          {"cache_policy", judgement.cache_policy ? std::string(to_string(*judgement.cache_policy)) : ""},
          {"judge_preset", csv_field(judgement.preset)},
          {"rule_version", csv_field(judgement.rule_version)},
          {"candidate_source_hash", csv_field(experiment.candidate_source_hash)},
          {"candidate_code_hash", csv_field(experiment.candidate_build.code_hash)}};
}

}  // namespace

std::string render_csv(const ReportModel& model) {
  std::string text;
  Experiment names_only;
  names_only.judgement = Judgement{};
  const char* comma = "";
  for (const Column& column : columns_of(names_only)) {
    text += comma + column.name;
    comma = ",";
  }
  text += "\r\n";
  for (const Experiment& experiment : model.experiments) {
    comma = "";
    for (const Column& column : columns_of(experiment)) {
      text += comma + column.value;
      comma = ",";
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace apo::report
