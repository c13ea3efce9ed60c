// harness/core/json/commands.cpp - a judgement of two commands as JSON.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json round_of_commands(const Round& round) {
  Json document = to_document(round);
  document.erase("candidate_in_slot0");
  document.erase("workloads");
  document["b_first"] = round.candidate_in_slot0;
  document["value_a"] = number_or_null(round.commands->best(false));
  document["value_b"] = number_or_null(round.commands->best(true));
  document["runs"] = list_of(round.commands->runs, [](const CommandRun& run) -> Json {
    return {{"side", run.candidate ? "b" : "a"}, {"value", number_or_null(run.value)}};
  });
  return document;
}

Json judgement_of_commands(const CommandComparison& comparison) {
  const Judgement& judgement = *comparison.judgement;
  const bool timed = judgement.rounds > 0;
  Json document = to_document(judgement);
  for (const char* of_calls : {"samples", "incumbent_ns", "candidate_ns", "cache_policy"}) {
    document.erase(of_calls);
  }
  if (comparison.gate) {
    document["verdict"] = to_string(*comparison.gate);
    document["reason"] = nullptr;
    document["confidence"] = nullptr;  // one-sided bounds, at alpha in all
  }
  document["value_a"] = timed ? positive_or_null(comparison.value_a) : Json(nullptr);
  document["value_b"] = timed ? positive_or_null(comparison.value_b) : Json(nullptr);
  return document;
}

}  // namespace

Json to_document(const CommandComparison& comparison) {
  const bool gate = comparison.purpose == CommandPurpose::gate;
  return {{"id", comparison.id},
          {"purpose", to_string(comparison.purpose)},
          {"command_a", comparison.command_a},
          {"command_b", comparison.command_b},
          {"folder", comparison.folder},
          {"metric", comparison.metric},
          {"higher_is_better", comparison.higher_is_better},
          {"correct", comparison.correct.empty() ? Json(nullptr) : Json(comparison.correct)},
          {"margin", gate ? number_or_null(std::expm1(comparison.margin)) : Json(nullptr)},
          {"judge", comparison.judge},
          {"layout", to_string(comparison.layout)},
          {"runs", comparison.runs},
          {"timeout_s", positive_or_null(comparison.timeout_s)},
          {"budget_s", positive_or_null(comparison.budget_s)},
          {"machine", comparison.machine},
          {"started_at", comparison.started_at},
          {"finished_at", comparison.finished_at},
          {"outcome", comparison.judgement ? Json(to_string(comparison.outcome)) : Json(nullptr)},
          {"judgement", comparison.judgement ? judgement_of_commands(comparison) : Json(nullptr)}};
}

Json to_document_with_runs(const CommandComparison& comparison) {
  Json document = to_document(comparison);
  document["rounds"] = list_of(comparison.rounds, round_of_commands);
  return document;
}

}  // namespace apo
