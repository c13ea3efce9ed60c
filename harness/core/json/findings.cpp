// harness/core/json/findings.cpp - what was seen in a profile, what research makes of it, and what was learned.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

Json to_document(const StallSample& record) {
  return APO_DOCUMENT(kernel, pc_offset, file, line, stall, samples, opcode, cause_file, cause_line);
}

Json to_document(const Roof& record) {
  Json document = APO_DOCUMENT(name, value, unit, lower, upper, samples, note);
  document["value"] = positive_or_null(record.value);
  document["lower"] = positive_or_null(record.lower);
  document["upper"] = positive_or_null(record.upper);
  return document;
}

Json to_document(const Profile& record) {
  Json document = APO_DOCUMENT(configuration, workload, rung, missing, conditions, time_ns, floor_ns, floor_roof,
                               floor_fraction, metrics, roofs, stalls, lines, counts, launches);
  document["time_ns"] = positive_or_null(record.time_ns);
  document["floor_ns"] = positive_or_null(record.floor_ns);
  document["floor_fraction"] = positive_or_null(record.floor_fraction);
  return document;
}

Json to_document(const Bottleneck& record) {
  Json document = APO_DOCUMENT(name, kind, bound, evidence);
  document["bound"] = positive_or_null(record.bound);
  if (record.line > 0) {
    document.update(APO_DOCUMENT(file, line));
  }
  return document;
}

Json to_document(const Candidate& record) {
  return APO_DOCUMENT(configuration, techniques, prediction, attacks, score, origin, why);
}

Json to_document(const LeftOut& record) {
  return APO_DOCUMENT(configuration, kind, why);
}

Json to_document(const ResearchBrief& record) {
  return APO_DOCUMENT(bottlenecks, ranked, left_out);
}

Json to_document(const Lesson& record) {
  return APO_DOCUMENT(id, experiment, family, workload_class, machine, configuration, source_hash, incumbent,
                      incumbent_source_hash, techniques, verdict, speedup, text);
}

Json to_document(const Proposal& record) {
  Json document = APO_DOCUMENT(author, configuration, idea, prediction, state, why, cost);
  if (record.configuration.variant.empty()) {
    document["configuration"] = nullptr;
  }
  return document;
}

Json to_document(const ProposerCall& record) {
  return APO_DOCUMENT(campaign, command, outcome, note, seconds, cost, proposals);
}

}  // namespace apo
