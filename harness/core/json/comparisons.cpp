// harness/core/json/comparisons.cpp - a judgement of two commands, or of two dispatches by an application, as JSON.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json round_document(const Round& round) {
  Json document = to_document(round);
  document.erase("candidate_in_slot0");
  document.erase("workloads");
  document["b_first"] = round.candidate_in_slot0;
  document["runs"] = list_of(round.commands->runs, [](const CommandRun& run) -> Json {
    return {{"side", run.candidate ? "b" : "a"}, {"value", number_or_null(run.value)}};
  });
  return document;
}

Json judgement_document(const ProgramComparison& comparison) {
  Json document = to_document(*comparison.judgement);
  for (const char* of_calls : {"samples", "incumbent_ns", "candidate_ns", "cache_policy"}) {
    document.erase(of_calls);
  }
  if (comparison.gate) {
    document["verdict"] = to_string(*comparison.gate);
    document["reason"] = nullptr;
    document["confidence"] = nullptr;  // one-sided bounds, at alpha in all
  }
  return document;
}

}  // namespace

Json asked_document(const ProgramComparison& comparison) {
  return comparison.kind == ComparisonKind::commands ? json_of(comparison.commands) : json_of(comparison.application);
}

Json to_document(const ProgramComparison& comparison) {
  const bool judged = comparison.judgement.has_value();
  const bool gate = comparison.purpose == ComparisonPurpose::gate;
  return {{"id", comparison.id},
          {"kind", to_string(comparison.kind)},
          {"purpose", to_string(comparison.purpose)},
          {"campaign", comparison.campaign > 0 ? Json(comparison.campaign) : Json(nullptr)},
          {"a", comparison.a},
          {"b", comparison.b},
          {"folder", comparison.folder},
          {"margin", gate ? number_or_null(std::expm1(comparison.margin)) : Json(nullptr)},
          {"asked", asked_document(comparison)},
          {"machine", comparison.machine},
          {"started_at", comparison.started_at},
          {"finished_at", comparison.finished_at},
          {"outcome", judged ? Json(to_string(comparison.outcome)) : Json(nullptr)},
          {"failed", json_of(comparison.failed)},
          {"judgement", judged ? judgement_document(comparison) : Json(nullptr)},
          {"figures", json_of(comparison.figures)}};
}

Json to_document_with_runs(const ProgramComparison& comparison) {
  Json document = to_document(comparison);
  if (comparison.kind == ComparisonKind::commands) {
    document["rounds"] = list_of(comparison.rounds, round_document);
  } else {
    document["runs"] = json_of(comparison.runs);
  }
  return document;
}

}  // namespace apo
