// reports/formats/json.cpp - writes the whole model as JSON; null means not measured.
#include <cmath>

#include "harness/core/json/records_json.h"
#include "reports/formats/escape.h"
#include "reports/render.h"

namespace apo::report {
namespace {

using Json = nlohmann::ordered_json;

Json iteration_document(const IterationRecord& record) {
  Json document = APO_DOCUMENT(id, index, started_at, incumbent, profiles);
  document.update(to_document(record.brief));
  return document;
}

Json sentinel_document(const SentinelRow& sentinel) {
  return {{"at", sentinel.at},
          {"configuration", to_document(sentinel.configuration)},
          {"cache_policy", to_string(sentinel.cache_policy)},
          {"effect_ratio", ratio_or_null(sentinel.effect)},
          {"lower", ratio_or_null(sentinel.lower)},
          {"upper", ratio_or_null(sentinel.upper)},
          {"confidence", number_or_null(sentinel.confidence)},
          {"spread_log", number_or_null(sentinel.sd)},
          {"rounds", sentinel.rounds},
          {"alarm", sentinel.alarm}};
}

Json point_document(const TrajectoryPoint& point) {
  return {{"index", point.index},
          {"experiment", point.experiment},
          {"incumbent", point.incumbent},
          {"accepted", point.accepted},
          {"withdrawn", point.withdrawn},
          {"naive_product", ratio_or_null(point.cumulative)},
          {"candidate_over_baseline", ratio_or_null(point.candidate)}};
}

Json prediction_document(const PredictionOutcome& outcome) {
  return {{"index", outcome.index},
          {"experiment", outcome.experiment},
          {"candidate", outcome.candidate},
          {"prediction", to_document(outcome.prediction)},
          {"speedup", ratio_or_null(outcome.effect)},
          {"inside", std::isfinite(outcome.effect) ? Json(outcome.inside) : Json(nullptr)}};
}

Json campaign_document(const ReportModel& model) {
  Json document = to_document(model.campaign);
  document["note"] = model.campaign.end_note;
  document["last_event_at"] = model.last_event_at;
  document["incumbent"] = model.incumbent;
  return document;
}

Json score_document(const PredictionScore& score) {
  return {{"predicted", score.predicted},
          {"scored", score.scored},
          {"inside", score.inside},
          {"mean_log_error", number_or_null(score.mean_error)},
          {"mean_absolute_log_error", number_or_null(score.mean_absolute_error)},
          {"mean_absolute_log_effect", number_or_null(score.mean_absolute_effect)},
          {"pairs", score.pairs},
          {"right_pairs", score.right_pairs},
          {"chance_of_a_random_order", number_or_null(score.chance)}};
}

Json application_document(const Application& record) {
  return APO_DOCUMENT(id, at, command, total_ns, busy_ns, span_ns, work, categories, ranges, notes);
}

Json abandoned_document(const Experiment& experiment) {
  return {{"why", experiment.abandoned}, {"experiment", to_document_with_rounds(experiment)}};
}

Json product_document(double effect) {
  return {{"speedup", ratio_or_null(effect)}, {"is_a_claim", false}};
}

Json worker_document(const WorkerRow& record) {
  return APO_DOCUMENT(number, device, machine, experiments, lost, busy_s, end, note);
}

Json judged_on_document(const ReportModel& model) {
  Json document = Json::object();
  for (const auto& [experiment, device] : model.judged_on) {
    document[std::to_string(experiment)] = device;
  }
  return document;
}

}  // namespace

std::string render_json(const ReportModel& model) {
  const Json report = {{"format", kRecordsFormat},
                       {"document", "report"},
                       {"campaign", campaign_document(model)},
                       {"claim", document_of(model.claim)},
                       {"naive_product", product_document(model.naive_effect)},
                       {"shrunken_product", product_document(model.shrunken_effect)},
                       {"machine", to_document(model.machine)},
                       {"toolchains", json_of(model.toolchains)},
                       {"trajectory", list_of(model.trajectory, point_document)},
                       {"experiments", list_of(model.experiments, to_document_with_rounds)},
                       {"abandoned", list_of(model.abandoned, abandoned_document)},
                       {"under_way", list_of(model.under_way, to_document_with_rounds)},
                       {"iterations", list_of(model.iterations, iteration_document)},
                       {"lessons", to_documents(model.lessons)},
                       {"predictions", list_of(model.predictions, prediction_document)},
                       {"prediction_score", score_document(model.prediction_score)},
                       {"certifications", to_documents(model.certifications)},
                       {"sentinels", list_of(model.sentinels, sentinel_document)},
                       {"applications", list_of(model.applications, application_document)},
                       {"comparisons", list_of(model.comparisons, to_document_with_runs)},
                       {"proposer_calls", to_documents(model.proposer_calls)},
                       {"workers", list_of(model.workers, worker_document)},
                       {"judged_on", judged_on_document(model)}};
  // Bytes that are no UTF-8 become U+FFFD instead of an exception.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace apo::report
