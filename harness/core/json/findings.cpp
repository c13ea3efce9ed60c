// harness/core/json/findings.cpp - what was seen in a profile, what research makes of it, and what was learned.
#include "harness/core/json/codec.h"
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json stall_document(const StallSample& one) {
  return {{"kernel", one.kernel}, {"pc_offset", one.pc_offset},   {"file", one.file},
          {"line", one.line},     {"stall", one.stall},           {"samples", one.samples},
          {"opcode", one.opcode}, {"cause_file", one.cause_file}, {"cause_line", one.cause_line}};
}

}  // namespace

Json to_document(const Roof& roof) {
  return {{"name", roof.name},
          {"value", positive_or_null(roof.value)},
          {"unit", roof.unit},
          {"lower", positive_or_null(roof.lower)},
          {"upper", positive_or_null(roof.upper)},
          {"samples", roof.samples},
          {"note", roof.note}};
}

Json to_document(const Profile& profile) {
  return {{"configuration", to_document(profile.configuration)},
          {"workload", profile.workload},
          {"rung", profile.rung},
          {"missing", profile.missing},
          {"conditions", profile.conditions},
          {"time_ns", positive_or_null(profile.time_ns)},
          {"floor_ns", positive_or_null(profile.floor_ns)},
          {"floor_roof", profile.floor_roof},
          {"floor_fraction", positive_or_null(profile.floor_fraction)},
          {"metrics", json_of(profile.metrics)},
          {"roofs", to_documents(profile.roofs)},
          {"stalls", list_of(profile.stalls, stall_document)},
          {"lines", json_of(profile.lines)},
          {"counts", json_of(profile.counts)}};
}

Json to_document(const Bottleneck& bottleneck) {
  Json document = {{"name", bottleneck.name},
                   {"kind", to_string(bottleneck.kind)},
                   {"bound", positive_or_null(bottleneck.bound)},
                   {"evidence", bottleneck.evidence}};
  if (bottleneck.line > 0) {
    document["file"] = bottleneck.file;
    document["line"] = bottleneck.line;
  }
  return document;
}

Json to_document(const Candidate& candidate) {
  return {{"configuration", to_document(candidate.configuration)},
          {"techniques", candidate.techniques},
          {"prediction", to_document(candidate.prediction)},
          {"attacks", candidate.attacks},
          {"score", number_or_null(candidate.score)},
          {"origin", to_string(candidate.origin)},
          {"why", candidate.why}};
}

Json to_document(const LeftOut& left_out) {
  return {{"configuration", to_document(left_out.configuration)},
          {"kind", to_string(left_out.kind)},
          {"why", left_out.why}};
}

Json to_document(const ResearchBrief& brief) {
  return {{"bottlenecks", to_documents(brief.bottlenecks)},
          {"ranked", to_documents(brief.ranked)},
          {"left_out", to_documents(brief.left_out)}};
}

Json to_document(const Lesson& lesson) {
  return {{"id", lesson.id},
          {"experiment", lesson.experiment},
          {"family", lesson.family},
          {"workload_class", lesson.workload_class},
          {"machine", lesson.machine},
          {"configuration", to_document(lesson.configuration)},
          {"source_hash", lesson.source_hash},
          {"incumbent", to_document(lesson.incumbent)},
          {"incumbent_source_hash", lesson.incumbent_source_hash},
          {"techniques", lesson.techniques},
          {"verdict", to_string(lesson.verdict)},
          {"speedup", number_or_null(lesson.speedup)},
          {"text", lesson.text}};
}

Json to_document(const Proposal& proposal) {
  return {
      {"author", proposal.author},
      {"configuration", proposal.configuration.variant.empty() ? Json(nullptr) : to_document(proposal.configuration)},
      {"idea", proposal.idea},
      {"prediction", proposal.prediction ? to_document(*proposal.prediction) : Json(nullptr)},
      {"state", to_string(proposal.state)},
      {"why", proposal.why},
      {"cost", json_of(proposal.cost)}};
}

Json to_document(const ProposerCall& call) {
  return {{"campaign", call.campaign},
          {"command", call.command},
          {"outcome", to_string(call.outcome)},
          {"note", call.note},
          {"seconds", call.seconds},
          {"cost", json_of(call.cost)},
          {"proposals", to_documents(call.proposals)}};
}

}  // namespace apo
