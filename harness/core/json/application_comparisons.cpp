// harness/core/json/application_comparisons.cpp - a judgement of two dispatches by an application as JSON.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json speed_document(const SpeedEffect& speed) {
  return {{"view", to_string(speed.view)},
          {"value_a", number_or_null(speed.value_a)},
          {"value_b", number_or_null(speed.value_b)},
          {"start_up_a_s", number_or_null(speed.start_up_a_s)},
          {"start_up_b_s", number_or_null(speed.start_up_b_s)},
          {"pairs", speed.pairs},
          {"speedup", ratio_or_null(speed.effect)},
          {"lower", ratio_or_null(speed.lower)},
          {"upper", ratio_or_null(speed.upper)},
          {"confidence", number_or_null(speed.confidence)}};
}

Json quality_document(const QualityChange& quality) {
  return {{"view", to_string(quality.view)},
          {"metric", quality.metric},
          {"value_a", number_or_null(quality.value_a)},
          {"value_b", number_or_null(quality.value_b)},
          {"change", number_or_null(quality.change)},
          {"lower", number_or_null(quality.lower)},
          {"upper", number_or_null(quality.upper)},
          {"confidence", number_or_null(quality.confidence)},
          {"margin", number_or_null(quality.margin)},
          {"seeds", quality.seeds},
          {"seeds_needed", positive_or_null(quality.seeds_needed)},
          {"finding", to_string(quality.finding)}};
}

Json expectation_document(const ApplicationExpectation& expectation) {
  if (!expectation.missing.empty()) {
    return {{"missing", expectation.missing}};
  }
  return {{"profile", expectation.profile},
          {"share", number_or_null(expectation.share)},
          {"kernel", expectation.kernel},
          {"kernel_speedup", ratio_or_null(expectation.kernel_effect)},
          {"kernel_lower", ratio_or_null(expectation.kernel_lower)},
          {"kernel_upper", ratio_or_null(expectation.kernel_upper)},
          {"speedup", ratio_or_null(expectation.effect)},
          {"lower", ratio_or_null(expectation.lower)},
          {"upper", ratio_or_null(expectation.upper)},
          {"agrees", expectation.agrees}};
}

Json run_document(const ApplicationRun& run) {
  return {{"view", to_string(run.view)},
          {"pair", run.pair},
          {"side", run.of_b ? "b" : "a"},
          {"seed", run.seed},
          {"outcome", to_string(run.outcome)},
          {"evidence", run.evidence},
          {"start_up_s", positive_or_null(run.start_up_s)},
          {"steps", run.steps},
          {"seconds", positive_or_null(run.seconds)},
          {"wall_s", positive_or_null(run.wall_s)},
          {"values", run.values}};
}

}  // namespace

Json to_document(const ApplicationComparison& comparison) {
  return {{"id", comparison.id},
          {"campaign", comparison.campaign > 0 ? Json(comparison.campaign) : Json(nullptr)},
          {"dispatch_a", comparison.dispatch[0]},
          {"dispatch_b", comparison.dispatch[1]},
          {"folder", comparison.folder},
          {"machine", comparison.machine},
          {"application", to_document(comparison.application)},
          {"started_at", comparison.started_at},
          {"finished_at", comparison.finished_at},
          {"outcome", comparison.verdict ? Json(to_string(comparison.outcome)) : Json(nullptr)},
          {"failed", failed_arms(comparison)},
          {"verdict", comparison.verdict ? Json(to_string(*comparison.verdict)) : Json(nullptr)},
          {"reason", comparison.verdict ? Json(to_string(comparison.reason)) : Json(nullptr)},
          {"sentence", comparison.sentence},
          {"speeds", list_of(comparison.speeds, speed_document)},
          {"qualities", list_of(comparison.qualities, quality_document)},
          {"expectation", comparison.expectation ? expectation_document(*comparison.expectation) : Json(nullptr)},
          {"seconds", positive_or_null(comparison.seconds)},
          {"rule_version", comparison.rule_version},
          {"runs", list_of(comparison.runs, run_document)}};
}

}  // namespace apo
