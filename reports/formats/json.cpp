// reports/formats/json.cpp - writes the whole model as JSON; null means not measured.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/formats/escape.h"
#include "reports/numbers.h"
#include "reports/render.h"

namespace apo::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json positive_or_null(double value) {
  return value > 0 ? number_or_null(value) : Json(nullptr);
}
Json ratio_or_null(double log_effect) {
  return number_or_null(std::exp(log_effect));
}

template <class Record, class Function>
Json list_of(const std::vector<Record>& records, Function function) {
  Json list = Json::array();
  for (const Record& record : records) {
    list.push_back(function(record));
  }
  return list;
}

Json to_json(const Configuration& configuration) {
  Json settings = Json::object();
  for (const auto& [name, value] : configuration.settings) {
    settings[name] = value;
  }
  return {{"label", configuration.label()}, {"variant", configuration.variant}, {"settings", settings}};
}

Json to_json(const Prediction& prediction) {
  if (!has_prediction(prediction)) {
    return nullptr;
  }
  return {{"low", prediction.low},
          {"high", prediction.high},
          {"relative_to", prediction.relative_to},
          {"because", prediction.because}};
}

Json to_json(const GateResult& gate) {
  return {{"gate", gate.gate},
          {"outcome", to_string(gate.outcome)},
          {"evidence", gate.evidence},
          {"seconds", positive_or_null(gate.seconds)}};
}

Json to_json(const RoundWorkload& workload) {
  return {{"workload", workload.workload},
          {"effect", number_or_null(workload.effect)},
          {"incumbent_median_ns", positive_or_null(workload.incumbent_median_ns)},
          {"candidate_median_ns", positive_or_null(workload.candidate_median_ns)}};
}

Json to_json(const Round& round) {
  return {{"stage", round.stage},
          {"index", round.index},
          {"seed", round.seed},
          {"candidate_in_slot0", round.candidate_in_slot0},
          {"effect", round.void_why.empty() ? number_or_null(round.effect) : Json(nullptr)},
          {"void_why", round.void_why},
          {"seconds", positive_or_null(round.seconds)},
          {"workloads", list_of(round.workloads, [](const RoundWorkload& one) { return to_json(one); })}};
}

Json to_json(const Build& build) {
  Json resources = Json::object();
  for (const auto& [name, value] : build.resources) {
    resources[name] = value;
  }
  return {{"outcome", to_string(build.outcome)},
          {"key", build.key},
          {"object_hash", build.object_hash},
          {"code_hash", build.code_hash},
          {"flags", build.flags},
          {"compiler", build.toolchain.version},
          {"seconds", positive_or_null(build.seconds)},
          {"from_cache", build.from_cache},
          {"resources", resources}};
}

Json measured_json(const Experiment& experiment) {
  if (!has_effect(experiment)) {
    return nullptr;
  }
  const Judgement& judgement = *experiment.judgement;
  return {{"speedup", ratio_or_null(judgement.effect)},
          {"lower", ratio_or_null(judgement.lower)},
          {"upper", ratio_or_null(judgement.upper)},
          {"confidence", number_or_null(judgement.confidence)},
          {"stage", effect_stage(experiment)},
          {"rounds", judgement.rounds},
          {"incumbent_ns", positive_or_null(judgement.incumbent_ns)},
          {"candidate_ns", positive_or_null(judgement.candidate_ns)},
          {"minimum_detectable_log", positive_or_null(judgement.minimum_detectable)}};
}

Json judgement_json(const Experiment& experiment) {
  if (!experiment.judgement) {
    return nullptr;
  }
  const Judgement& judgement = *experiment.judgement;
  return {{"verdict", to_string(judgement.verdict)},
          {"reason", to_string(judgement.reason)},
          {"sentence", judgement.sentence},
          {"measured", measured_json(experiment)},
          {"processes", judgement.processes},
          {"samples", judgement.samples},
          {"seconds", positive_or_null(judgement.seconds)},
          {"judge_preset", judgement.preset},
          {"cache_policy", judgement.cache_policy},
          {"rule_version", judgement.rule_version}};
}

Json to_json(const Experiment& experiment) {
  return {{"id", experiment.id},
          {"index", experiment.index},
          {"iteration", experiment.iteration},
          {"started_at", experiment.started_at},
          {"finished_at", experiment.finished_at},
          {"candidate", to_json(experiment.candidate)},
          {"incumbent", to_json(experiment.incumbent)},
          {"candidate_source_hash", experiment.candidate_source_hash},
          {"incumbent_source_hash", experiment.incumbent_source_hash},
          {"techniques", experiment.techniques},
          {"workloads", experiment.workloads},
          {"prediction", to_json(experiment.prediction)},
          {"outcome", to_string(experiment.outcome)},
          {"judgement", judgement_json(experiment)},
          {"gates", list_of(experiment.gates, [](const GateResult& one) { return to_json(one); })},
          {"candidate_build", to_json(experiment.candidate_build)},
          {"incumbent_build", to_json(experiment.incumbent_build)},
          {"rounds", list_of(experiment.rounds, [](const Round& one) { return to_json(one); })}};
}

Json bound_json(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json to_json(const Metric& metric) {
  return {{"name", metric.name},
          {"value", number_or_null(metric.value)},
          {"unit", metric.unit},
          {"lower", bound_json(metric.lower)},
          {"upper", bound_json(metric.upper)},
          {"samples", metric.samples}};
}

Json to_json(const Roof& roof) {
  return {{"name", roof.name},
          {"value", positive_or_null(roof.value)},
          {"unit", roof.unit},
          {"lower", positive_or_null(roof.lower)},
          {"upper", positive_or_null(roof.upper)},
          {"samples", roof.samples},
          {"note", roof.note}};
}

// Without PC samples a profile has no key for them.
void add_samples(Json& json, const Profile& profile) {
  if (profile.stalls.empty()) {
    return;
  }
  json["stalls"] = list_of(profile.stalls, [](const StallSample& one) {
    return Json{{"kernel", one.kernel}, {"pc_offset", one.pc_offset}, {"file", one.file},
                {"line", one.line},     {"stall", one.stall},         {"samples", one.samples}};
  });
  json["lines"] = list_of(profile.lines, [](const SourceLine& one) {
    return Json{{"file", one.file}, {"line", one.line}, {"text", one.text}};
  });
}

Json to_json(const Profile& profile) {
  Json json = {{"configuration", to_json(profile.configuration)},
               {"workload", profile.workload},
               {"rung", profile.rung},
               {"missing", profile.missing},
               {"time_ns", positive_or_null(profile.time_ns)},
               {"floor_ns", positive_or_null(profile.floor_ns)},
               {"floor_roof", profile.floor_roof},
               {"floor_fraction", positive_or_null(profile.floor_fraction)},
               {"metrics", list_of(profile.metrics, [](const Metric& one) { return to_json(one); })},
               {"roofs", list_of(profile.roofs, [](const Roof& one) { return to_json(one); })}};
  if (!profile.conditions.empty()) {
    json["conditions"] = profile.conditions;
  }
  add_samples(json, profile);
  return json;
}

Json to_json(const Candidate& candidate) {
  return {{"configuration", to_json(candidate.configuration)},
          {"techniques", candidate.techniques},
          {"prediction", to_json(candidate.prediction)},
          {"attacks", candidate.attacks},
          {"score", number_or_null(candidate.score)},
          {"origin", candidate.origin},
          {"why", candidate.why}};
}

Json to_json(const IterationRecord& iteration) {
  const auto bottleneck_json = [](const Bottleneck& one) -> Json {
    Json json = {{"name", one.name},
                 {"kind", to_string(one.kind)},
                 {"bound", positive_or_null(one.bound)},
                 {"evidence", one.evidence}};
    if (one.line > 0) {
      json["file"] = one.file;
      json["line"] = one.line;
    }
    return json;
  };
  const auto left_out_json = [](const LeftOut& one) -> Json {
    return {{"configuration", to_json(one.configuration)}, {"why", one.why}};
  };
  return {{"id", iteration.id},
          {"index", iteration.index},
          {"started_at", iteration.started_at},
          {"incumbent", to_json(iteration.incumbent)},
          {"profiles", list_of(iteration.profiles, [](const Profile& one) { return to_json(one); })},
          {"bottlenecks", list_of(iteration.brief.bottlenecks, bottleneck_json)},
          {"ranked", list_of(iteration.brief.ranked, [](const Candidate& one) { return to_json(one); })},
          {"left_out", list_of(iteration.brief.left_out, left_out_json)}};
}

Json to_json(const ClockCoupling& clock) {
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
          {"segments", 4 * clock.blocks},
          {"segment_s", number_or_null(clock.solo_run_s)}};
}

Json to_json(const Certification& certification) {
  const bool measured = certification.rounds > 0;
  const QuotedEffect quoted = certification.quoted();
  const auto ratio = [&](double effect) { return measured ? ratio_or_null(effect) : Json(nullptr); };
  return {{"id", certification.id},
          {"champion", to_json(certification.champion)},
          {"baseline", to_json(certification.baseline)},
          {"cache_policy", certification.cache_policy},
          {"speedup", ratio(quoted.effect)},
          {"lower", ratio(quoted.lower)},
          {"upper", ratio(quoted.upper)},
          {"confidence", number_or_null(quoted.confidence)},
          {"rounds", certification.rounds},
          {"rounds_speedup", ratio(certification.effect)},
          {"clock", certification.clock ? to_json(*certification.clock) : Json(nullptr)},
          {"accepted_effects_product", ratio_or_null(certification.claimed_effect)},
          {"alarm", certification.alarm},
          {"at", certification.at}};
}

Json to_json(const Sentinel& sentinel) {
  return {{"at", sentinel.at},
          {"configuration", to_json(sentinel.configuration)},
          {"cache_policy", sentinel.cache_policy},
          {"effect_ratio", ratio_or_null(sentinel.effect)},
          {"lower", ratio_or_null(sentinel.lower)},
          {"upper", ratio_or_null(sentinel.upper)},
          {"confidence", number_or_null(sentinel.confidence)},
          {"spread_log", number_or_null(sentinel.spread)},
          {"rounds", sentinel.rounds},
          {"alarm", sentinel.alarm}};
}

Json to_json(const Lesson& lesson) {
  return {{"id", lesson.id},
          {"experiment", lesson.experiment},
          {"verdict", to_string(lesson.verdict)},
          {"configuration", to_json(lesson.configuration)},
          {"incumbent", to_json(lesson.incumbent)},
          {"techniques", lesson.techniques},
          {"workload_class", lesson.workload_class},
          {"machine", lesson.machine},
          {"text", lesson.text}};
}

Json to_json(const TrajectoryPoint& point) {
  return {{"index", point.index},
          {"experiment", point.experiment},
          {"incumbent", point.incumbent},
          {"accepted", point.accepted},
          {"withdrawn", point.withdrawn},
          {"naive_product", ratio_or_null(point.cumulative)},
          {"candidate_over_baseline", ratio_or_null(point.candidate)}};
}

Json to_json(const PredictionOutcome& outcome) {
  return {{"index", outcome.index},
          {"experiment", outcome.experiment},
          {"candidate", outcome.candidate},
          {"prediction", to_json(outcome.prediction)},
          {"speedup", ratio_or_null(outcome.effect)},
          {"inside", std::isfinite(outcome.effect) ? Json(outcome.inside) : Json(nullptr)}};
}

Json to_json(const Machine& machine) {
  return {{"id", machine.id},
          {"target", to_string(machine.target)},
          {"model", machine.model},
          {"cores", machine.cores},
          {"isa", machine.isa},
          {"driver", machine.driver},
          {"kernel", machine.kernel},
          {"governor", machine.governor},
          {"l2_bytes", positive_or_null(static_cast<double>(machine.l2_bytes))},
          {"l3_bytes", positive_or_null(static_cast<double>(machine.l3_bytes))},
          {"memory_bytes", positive_or_null(static_cast<double>(machine.memory_bytes))},
          {"facts", machine.facts}};
}

Json campaign_json(const ReportModel& model) {
  const Policy& policy = model.campaign.policy;
  const bool open = model.campaign.state == "open";
  return {{"id", model.campaign.id},
          {"state", model.campaign.state},
          {"note", model.end_note},
          {"started_at", model.campaign.started_at},
          {"last_event_at", model.last_event_at},
          {"family", policy.family},
          {"workload_class", policy.workload_class},
          {"workloads", policy.workloads},
          {"target", to_string(policy.target)},
          {"iterations", policy.iterations},
          {"candidates_per_iteration", policy.candidates_per_iteration},
          {"budget_s", positive_or_null(policy.budget_s)},
          {"cache_policy", policy.cache_policy},
          {"judge_preset", policy.judge_preset},
          {"layout", policy.layout.empty() ? Json(nullptr) : Json(policy.layout)},
          {"seed", open ? Json(nullptr) : Json(policy.seed)},
          {"baseline", to_json(model.campaign.baseline)},
          {"champion", model.champion}};
}

Json score_json(const PredictionScore& score) {
  return {{"predicted", score.predicted},
          {"scored", score.scored},
          {"inside", score.inside},
          {"mean_log_error", number_or_null(score.mean_error)},
          {"mean_absolute_log_error", number_or_null(score.mean_absolute_error)}};
}

Json application_json(const Application& application) {
  Json work = Json::array();
  for (const WorkRow& row : application.work) {
    work.push_back({{"name", row.work.name},
                    {"category", row.category},
                    {"calls", row.work.calls},
                    {"total_ns", row.work.total_ns},
                    {"share", number_or_null(row.share)}});
  }
  Json categories = Json::array();
  for (const CategoryRow& row : application.categories) {
    categories.push_back(
        {{"name", row.name}, {"calls", row.calls}, {"total_ns", row.total_ns}, {"share", number_or_null(row.share)}});
  }
  Json ranges = Json::array();
  for (const RangeRow& row : application.ranges) {
    Json parts = Json::array();
    for (const CategoryRow& one : row.categories) {
      parts.push_back({{"name", one.name}, {"calls", one.calls}, {"total_ns", one.total_ns}});
    }
    ranges.push_back({{"path", row.path},
                      {"entered", row.entered},
                      {"calls", row.calls},
                      {"total_ns", row.total_ns},
                      {"own_ns", row.own_ns},
                      {"categories", parts}});
  }
  Json metrics = Json::array();
  for (const KernelMetric& metric : application.metrics) {
    metrics.push_back({{"kernel", metric.kernel},
                       {"name", metric.name},
                       {"unit", metric.unit},
                       {"mean", number_or_null(metric.mean)},
                       {"samples", metric.samples}});
  }
  return {{"id", application.id},
          {"at", application.at},
          {"source", application.source},
          {"command", application.command},
          {"total_ns", number_or_null(application.total_ns)},
          {"busy_ns", number_or_null(application.busy_ns)},
          {"span_ns", number_or_null(application.span_ns)},
          {"work", work},
          {"categories", categories},
          {"ranges", ranges},
          {"metrics", metrics},
          {"notes", application.notes}};
}

Json abandoned_json(const Abandoned& abandoned) {
  return {{"why", abandoned.why}, {"experiment", to_json(abandoned.experiment)}};
}

}  // namespace

std::string render_json(const ReportModel& model) {
  const auto convert = [](const auto& one) { return to_json(one); };
  const auto toolchain_json = [](const Toolchain& one) -> Json {
    return {{"compiler", one.compiler}, {"version", one.version}};
  };
  const Json report = {{"format", "apo-report"},
                       {"version", kFormatVersion},
                       {"campaign", campaign_json(model)},
                       {"claim", model.claim ? to_json(*model.claim) : Json(nullptr)},
                       {"naive_product", {{"speedup", ratio_or_null(model.naive_effect)}, {"is_a_claim", false}}},
                       {"shrunken_product", {{"speedup", ratio_or_null(model.shrunken_effect)}, {"is_a_claim", false}}},
                       {"machine", to_json(model.machine)},
                       {"toolchains", list_of(model.toolchains, toolchain_json)},
                       {"trajectory", list_of(model.trajectory, convert)},
                       {"experiments", list_of(model.experiments, convert)},
                       {"abandoned", list_of(model.abandoned, abandoned_json)},
                       {"under_way", list_of(model.under_way, convert)},
                       {"iterations", list_of(model.iterations, convert)},
                       {"lessons", list_of(model.lessons, convert)},
                       {"predictions", list_of(model.predictions, convert)},
                       {"prediction_score", score_json(model.prediction_score)},
                       {"certifications", list_of(model.certifications, convert)},
                       {"sentinels", list_of(model.sentinels, convert)},
                       {"applications", list_of(model.applications, application_json)}};
  // Bytes that are no UTF-8 become U+FFFD instead of an exception.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace apo::report
