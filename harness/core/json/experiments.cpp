// harness/core/json/experiments.cpp - how a candidate was judged: gates, rounds, judgement, certification.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json value_of(const std::optional<double>& value) {
  return number_or_null(value);
}
Json value_of(const std::optional<Layout>& value) {
  return value == Layout::random;
}
template <class Value>
Json value_of(const Value& value) {
  return *value;
}
Json value_of(bool value) {
  return value;
}

bool is_known(bool value) {
  return value;
}
template <class Value>
bool is_known(const std::optional<Value>& value) {
  return value.has_value();
}

// Writes the fields that were read.
struct Known {
  Json& document;
  template <class Field>
  void operator()(const char* name, const Field& field) const {
    if (is_known(field)) {
      document[name] = value_of(field);
    }
  }
};

Json workload_document(const RoundWorkload& workload) {
  Json checks = Json::object();
  visit_checks(workload.checks, Known{checks});
  return {{"workload", workload.workload},
          {"repetitions", workload.repetitions},
          {"effect", number_or_null(workload.effect)},
          {"incumbent_median_ns", positive_or_null(workload.incumbent_median_ns)},
          {"candidate_median_ns", positive_or_null(workload.candidate_median_ns)},
          {"checks", checks}};
}

Json blocks_document(const std::vector<Block>& blocks) {
  return list_of(blocks, [](const Block& block) {
    return list_of(block.samples, [](const Sample& one) -> Json { return {{"slot", one.slot}, {"ns", one.ns}}; });
  });
}

Json clock_document(const ClockCoupling& clock) {
  if (!clock.missing.empty()) {
    return {{"missing", clock.missing}};
  }
  return {{"coupled", clock.coupled},
          {"clock_ratio", ratio_or_null(clock.clock_effect)},
          {"clock_lower", ratio_or_null(clock.clock_lower)},
          {"clock_upper", ratio_or_null(clock.clock_upper)},
          {"speedup", ratio_or_null(clock.time_effect)},
          {"lower", ratio_or_null(clock.time_lower)},
          {"upper", ratio_or_null(clock.time_upper)},
          {"cycles_ratio", ratio_or_null(clock.cycle_effect)},
          {"confidence", number_or_null(clock.confidence)},
          {"solo_runs", 4 * clock.blocks},
          {"solo_run_s", number_or_null(clock.solo_run_s)}};
}

}  // namespace

Json to_document(const InputValue& input) {
  return {{"name", input.tensor}, {"index", input.index}, {"value", number_or_null(input.value)}};
}

Json to_document(const WrongElement& record) {
  Json document = APO_DOCUMENT(workload, regime, tensor, axes, index, expected, got, bound, inputs, seed);
  document["seed"] = record.seed != 0 ? Json(record.seed) : Json(nullptr);
  return document;
}

Json to_document(const GateResult& gate) {
  Json document = {{"gate", gate.gate},
                   {"outcome", outcome_text(gate)},
                   {"evidence", gate.evidence},
                   {"seconds", positive_or_null(gate.seconds)}};
  for (const GateStep& step : gate.steps) {
    document["steps"].push_back({{"what", step.what}, {"begin", step.begin_s}, {"end", step.end_s}});
  }
  if (gate.checked.elements > 0) {
    document["checked"] = {
        {"largest", gate.checked.largest}, {"elements", gate.checked.elements}, {"up_to", gate.checked.up_to}};
  }
  if (gate.wrong) {
    document["wrong"] = to_document(*gate.wrong);
  }
  return document;
}

Json to_document(const Judgement& judgement) {
  const bool timed = has_effect(judgement);
  const auto ratio = [&](double effect) { return timed ? ratio_or_null(effect) : Json(nullptr); };
  // 0 of these says that there is no such bound.
  const auto bound = [&](double effect) { return timed && effect > 0 ? ratio_or_null(effect) : Json(nullptr); };
  const auto time = [&](double ns) { return timed ? positive_or_null(ns) : Json(nullptr); };
  return {{"verdict", to_string(judgement.verdict)},
          {"reason", to_string(judgement.reason)},
          {"sentence", judgement.sentence},
          {"speedup", ratio(judgement.effect)},
          {"lower", ratio(judgement.lower)},
          {"upper", ratio(judgement.upper)},
          {"confidence", timed ? number_or_null(judgement.confidence) : Json(nullptr)},
          {"rounds", judgement.rounds},
          {"processes", judgement.processes},
          {"samples", judgement.samples},
          {"seconds", positive_or_null(judgement.seconds)},
          {"incumbent_ns", time(judgement.incumbent_ns)},
          {"candidate_ns", time(judgement.candidate_ns)},
          {"alpha", number_or_null(judgement.alpha)},
          {"minimum_detectable", bound(judgement.minimum_detectable)},
          {"minimum_claim", bound(judgement.minimum_claim)},
          {"judge_preset", judgement.preset},
          {"cache_policy", json_of(judgement.cache_policy)},
          {"rule_version", judgement.rule_version}};
}

Json to_document(const Round& round) {
  Json environment = Json::object();
  visit_environment(round.environment, Known{environment});
  return {{"stage", to_string(round.stage)},
          {"index", round.index},
          {"seed", round.seed},
          {"candidate_in_slot0", round.candidate_in_slot0},
          {"effect", round.void_why.empty() ? number_or_null(round.effect) : Json(nullptr)},
          {"void_why", round.void_why},
          {"seconds", positive_or_null(round.seconds)},
          {"environment", environment},
          {"workloads", list_of(round.workloads, workload_document)}};
}

Json to_document_with_samples(const Round& round) {
  Json document = to_document(round);
  for (std::size_t i = 0; i < round.workloads.size(); ++i) {
    document["workloads"][i]["warmup"] = blocks_document(round.workloads[i].warmup);
    document["workloads"][i]["blocks"] = blocks_document(round.workloads[i].blocks);
  }
  return document;
}

Json to_document(const Experiment& record) {
  return APO_DOCUMENT(id, campaign, iteration, index, started_at, finished_at, machine, family, workload_class,
                      workloads, candidate, incumbent, candidate_source_hash, incumbent_source_hash, techniques,
                      prediction, outcome, judgement, gates, candidate_build, incumbent_build);
}

Json to_document_with_rounds(const Experiment& experiment) {
  Json document = to_document(experiment);
  document["effect_stage"] = has_effect(experiment) ? Json(to_string(effect_stage(experiment))) : Json(nullptr);
  document["rounds"] = to_documents(experiment.rounds);
  return document;
}

Json to_document(const Campaign& campaign) {
  const Policy& policy = campaign.policy;
  return {{"id", campaign.id},
          {"state", to_string(campaign.state)},
          {"started_at", campaign.started_at},
          {"machine", campaign.machine},
          {"family", policy.family},
          {"workload_class", policy.workload_class},
          {"workloads", policy.workloads},
          {"target", to_string(policy.target)},
          {"iterations", policy.iterations},
          {"candidates_per_iteration", policy.candidates_per_iteration},
          {"budget_s", positive_or_null(policy.budget_s)},
          {"cache_policy", to_string(policy.cache_policy)},
          {"judge_preset", policy.judge_preset},
          {"layout", json_of(policy.layout)},
          {"seed", campaign.state == CampaignState::open ? Json(nullptr) : Json(policy.seed)},
          {"baseline", to_document(campaign.baseline)}};
}

Json to_document(const Certification& certification) {
  const QuotedEffect quoted = certification.quoted();
  const auto ratio = [&](double effect) { return certification.rounds > 0 ? ratio_or_null(effect) : Json(nullptr); };
  return {{"id", certification.id},
          {"campaign", certification.campaign},
          {"at", certification.at},
          {"incumbent", to_document(certification.incumbent)},
          {"baseline", to_document(certification.baseline)},
          {"cache_policy", to_string(certification.cache_policy)},
          {"speedup", ratio(quoted.effect)},
          {"lower", ratio(quoted.lower)},
          {"upper", ratio(quoted.upper)},
          {"confidence", number_or_null(quoted.confidence)},
          {"rounds", certification.rounds},
          {"rounds_speedup", ratio(certification.effect)},
          {"clock", certification.clock ? clock_document(*certification.clock) : Json(nullptr)},
          {"naive_product", ratio_or_null(certification.claimed_effect)},
          {"alarm", certification.alarm},
          {"seconds", positive_or_null(certification.seconds)}};
}

}  // namespace apo
