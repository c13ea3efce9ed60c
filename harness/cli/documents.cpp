// harness/cli/documents.cpp - writes records field by field, under the names of the records.
#include "harness/cli/documents.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace apo {

using Json = nlohmann::json;

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_document(const Configuration& configuration) {
  Json settings = Json::object();
  for (const auto& [name, value] : configuration.settings) {
    settings[name] = value;
  }
  return {{"variant", configuration.variant}, {"settings", settings}, {"label", configuration.label()}};
}

Json to_document(const Judgement& judgement) {
  const bool timed = judgement.reason != Reason::gate_failed;
  const auto timed_number = [&](double value) { return timed ? number_or_null(value) : Json(nullptr); };
  return {{"verdict", to_string(judgement.verdict)},
          {"reason", to_string(judgement.reason)},
          {"sentence", judgement.sentence},
          {"speedup", timed_number(judgement.speedup())},
          {"lower", timed_number(judgement.speedup_lower())},
          {"upper", timed_number(judgement.speedup_upper())},
          {"confidence", judgement.confidence},
          {"rounds", judgement.rounds},
          {"processes", judgement.processes},
          {"samples", judgement.samples},
          {"seconds", judgement.seconds},
          {"alpha", judgement.alpha},
          {"minimum_detectable", timed_number(std::exp(judgement.minimum_detectable))},
          {"minimum_claim", timed_number(std::exp(judgement.minimum_claim))},
          {"incumbent_ns", timed_number(judgement.incumbent_ns)},
          {"candidate_ns", timed_number(judgement.candidate_ns)},
          {"profile", judgement.preset},
          {"cache_policy", judgement.cache_policy},
          {"rule_version", judgement.rule_version}};
}

Json to_document(const GateResult& gate) {
  Json document = {{"gate", gate.gate},
                   {"outcome", to_string(gate.outcome)},
                   {"evidence", gate.evidence},
                   {"seconds", gate.seconds}};
  for (const GateStep& step : gate.steps) {
    document["steps"].push_back({{"what", step.what}, {"begin", step.begin_s}, {"end", step.end_s}});
  }
  return document;
}

namespace {

Json clock_document(const ClockCoupling& clock) {
  if (!clock.missing.empty()) {
    return {{"missing", clock.missing}};
  }
  return {{"coupled", clock.coupled},
          {"clock_ratio", std::exp(clock.clock_effect)},
          {"clock_lower", std::exp(clock.clock_lower)},
          {"clock_upper", std::exp(clock.clock_upper)},
          {"speedup", std::exp(clock.time_effect)},
          {"lower", std::exp(clock.time_lower)},
          {"upper", std::exp(clock.time_upper)},
          {"cycles_ratio", std::exp(clock.cycle_effect)},
          {"confidence", clock.confidence},
          {"solo_runs", 4 * clock.blocks},
          {"solo_run_s", clock.solo_run_s}};
}

}  // namespace

Json to_document(const Certification& one) {
  const QuotedEffect quoted = one.quoted();
  return {{"champion", to_document(one.champion)},
          {"baseline", to_document(one.baseline)},
          {"cache_policy", one.cache_policy},
          {"speedup", std::exp(quoted.effect)},
          {"lower", std::exp(quoted.lower)},
          {"upper", std::exp(quoted.upper)},
          {"confidence", quoted.confidence},
          {"rounds", one.rounds},
          {"rounds_speedup", std::exp(one.effect)},
          {"clock", one.clock ? clock_document(*one.clock) : Json(nullptr)},
          {"naive_product", std::exp(one.claimed_effect)},
          {"alarm", one.alarm},
          {"at", one.at}};
}

Json to_document(const Bottleneck& bottleneck) {
  Json document = {{"name", bottleneck.name},
                   {"kind", to_string(bottleneck.kind)},
                   {"evidence", bottleneck.evidence},
                   {"bound", number_or_null(bottleneck.bound)}};
  if (bottleneck.line > 0) {
    document["file"] = bottleneck.file;
    document["line"] = bottleneck.line;
  }
  return document;
}

Json to_document(const Profile& profile) {
  Json metrics = Json::array();
  for (const Metric& metric : profile.metrics) {
    Json one = {{"name", metric.name},
                {"value", number_or_null(metric.value)},
                {"unit", metric.unit},
                {"samples", metric.samples}};
    if (metric.lower && metric.upper) {
      one["lower"] = number_or_null(*metric.lower);
      one["upper"] = number_or_null(*metric.upper);
    }
    metrics.push_back(std::move(one));
  }
  Json stalls = Json::array();
  for (const StallSample& one : profile.stalls) {
    stalls.push_back({{"kernel", one.kernel},
                      {"pc_offset", one.pc_offset},
                      {"file", one.file},
                      {"line", one.line},
                      {"stall", one.stall},
                      {"samples", one.samples},
                      {"opcode", one.opcode},
                      {"cause_file", one.cause_file},
                      {"cause_line", one.cause_line}});
  }
  Json counts = Json::array();
  for (const LineCount& one : profile.counts) {
    counts.push_back({{"what", one.what}, {"file", one.file}, {"line", one.line}, {"count", one.count}});
  }
  Json lines = Json::array();
  for (const SourceLine& one : profile.lines) {
    lines.push_back({{"file", one.file}, {"line", one.line}, {"text", one.text}});
  }
  return {{"configuration", to_document(profile.configuration)},
          {"workload", profile.workload},
          {"time_ns", number_or_null(profile.time_ns)},
          {"floor_ns", number_or_null(profile.floor_ns)},
          {"floor_roof", profile.floor_roof},
          {"floor_fraction", number_or_null(profile.floor_fraction)},
          {"rung", profile.rung},
          {"missing", profile.missing},
          {"conditions", profile.conditions},
          {"metrics", metrics},
          {"stalls", stalls},
          {"lines", lines},
          {"counts", counts},
          {"roofs", to_document(profile.roofs)}};
}

Json to_document(const std::vector<Roof>& roofs) {
  Json list = Json::array();
  for (const Roof& roof : roofs) {
    list.push_back({{"name", roof.name},
                    {"value", number_or_null(roof.value)},
                    {"unit", roof.unit},
                    {"lower", number_or_null(roof.lower)},
                    {"upper", number_or_null(roof.upper)},
                    {"samples", roof.samples},
                    {"note", roof.note}});
  }
  return list;
}

Json to_document(const Machine& machine) {
  return {{"id", machine.id},
          {"target", to_string(machine.target)},
          {"model", machine.model},
          {"cores", machine.cores},
          {"kernel", machine.kernel},
          {"governor", machine.governor},
          {"isa", machine.isa},
          {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes},
          {"driver", machine.driver},
          {"memory_bytes", machine.memory_bytes},
          {"facts", machine.facts}};
}

Json to_document(const Lesson& lesson) {
  return {{"id", lesson.id},
          {"experiment", lesson.experiment},
          {"family", lesson.family},
          {"workload_class", lesson.workload_class},
          {"machine", lesson.machine},
          {"configuration", to_document(lesson.configuration)},
          {"incumbent", to_document(lesson.incumbent)},
          {"source_hash", lesson.source_hash},
          {"incumbent_source_hash", lesson.incumbent_source_hash},
          {"techniques", lesson.techniques},
          {"verdict", to_string(lesson.verdict)},
          {"speedup", number_or_null(lesson.speedup)},
          {"text", lesson.text}};
}

Json to_document(const Build& build) {
  return {{"key", build.key},
          {"outcome", to_string(build.outcome)},
          {"compiler", build.toolchain.compiler},
          {"compiler_version", build.toolchain.version},
          {"flags", build.flags},
          {"object_hash", build.object_hash},
          {"code_hash", build.code_hash},
          {"seconds", build.seconds},
          {"from_cache", build.from_cache},
          {"resources", build.resources}};
}

Json to_document(const Experiment& experiment) {
  Json gates = Json::array();
  for (const GateResult& gate : experiment.gates) {
    gates.push_back(to_document(gate));
  }
  return {{"id", experiment.id},
          {"campaign", experiment.campaign},
          {"iteration", experiment.iteration},
          {"index", experiment.index},
          {"family", experiment.family},
          {"workload_class", experiment.workload_class},
          {"workloads", experiment.workloads},
          {"machine", experiment.machine},
          {"candidate", to_document(experiment.candidate)},
          {"incumbent", to_document(experiment.incumbent)},
          {"candidate_source_hash", experiment.candidate_source_hash},
          {"incumbent_source_hash", experiment.incumbent_source_hash},
          {"techniques", experiment.techniques},
          {"predicted_low", number_or_null(experiment.prediction.low)},
          {"predicted_high", number_or_null(experiment.prediction.high)},
          {"predicted_because", experiment.prediction.because},
          {"candidate_build", to_document(experiment.candidate_build)},
          {"incumbent_build", to_document(experiment.incumbent_build)},
          {"gates", gates},
          {"outcome", to_string(experiment.outcome)},
          {"judgement", experiment.judgement ? to_document(*experiment.judgement) : Json(nullptr)},
          {"started_at", experiment.started_at},
          {"finished_at", experiment.finished_at}};
}

Json to_document(const Round& round) {
  Json workloads = Json::array();
  for (const RoundWorkload& workload : round.workloads) {
    const auto blocks = [](const std::vector<Block>& list) {
      Json all = Json::array();
      for (const Block& block : list) {
        Json samples = Json::array();
        for (const Sample& sample : block.samples) {
          samples.push_back({{"slot", sample.slot}, {"ns", sample.ns}});
        }
        all.push_back(std::move(samples));
      }
      return all;
    };
    workloads.push_back({{"workload", workload.workload},
                         {"repetitions", workload.repetitions},
                         {"effect", number_or_null(workload.effect)},
                         {"warmup", blocks(workload.warmup)},
                         {"blocks", blocks(workload.blocks)}});
  }
  return {{"stage", round.stage},
          {"index", round.index},
          {"seed", round.seed},
          {"candidate_in_slot0", round.candidate_in_slot0},
          {"effect", number_or_null(round.effect)},
          {"void_why", round.void_why},
          {"seconds", round.seconds},
          {"environment", round.environment},
          {"workloads", workloads}};
}

Json to_document(const Variant& variant) {
  Json tunables = Json::array();
  for (const Tunable& tunable : variant.tunables) {
    tunables.push_back({{"name", tunable.name}, {"values", tunable.values}});
  }
  Json document = {{"id", variant.id()},
                   {"target", to_string(variant.target)},
                   {"techniques", variant.techniques},
                   {"parent", variant.parent},
                   {"idea", variant.idea},
                   {"requires", variant.requires_expression},
                   {"tunables", tunables},
                   {"path", variant.path},
                   {"source_hash", variant.source_hash}};
  if (variant.prediction) {
    document["prediction"] = {{"low", variant.prediction->low},
                              {"high", variant.prediction->high},
                              {"relative_to", variant.prediction->relative_to},
                              {"because", variant.prediction->because}};
  }
  return document;
}

}  // namespace apo
