// harness/core/json/records_json.h - the records as JSON: one form for the command line, the reports and the brief.
//
// Fields have the names of the records. Missing measurements and non-finite numbers are null. Effects are ratios: 1.25
// is 1.25 times as fast. A whole document also has {"format": kRecordsFormat}.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/core/applications/application_profile.h"
#include "harness/core/comparisons/comparison.h"
#include "harness/core/json/codec.h"
#include "harness/core/json/values.h"
#include "harness/core/records/records.h"

namespace apo {

// The number of incompatible changes of these documents: a key that was removed or renamed, or changed its meaning.
inline constexpr int kRecordsFormat = 3;

// ---- what is tried
nlohmann::ordered_json to_document(const Configuration& configuration);
nlohmann::ordered_json to_document(const Prediction& prediction);  // null where none was made
nlohmann::ordered_json to_document(const Variant& variant);        // without its source

// ---- where, and with what
nlohmann::ordered_json to_document(const Machine& machine);
nlohmann::ordered_json to_document(const Build& build);  // without its log

// ---- how it was judged
nlohmann::ordered_json to_document(const InputValue& input);
nlohmann::ordered_json to_document(const WrongElement& wrong);
nlohmann::ordered_json to_document(const GateResult& gate);
nlohmann::ordered_json to_document(const Judgement& judgement);
nlohmann::ordered_json to_document(const Round& round);               // without its samples
nlohmann::ordered_json to_document_with_samples(const Round& round);  // slot and ns, in the order they were taken
nlohmann::ordered_json to_document(const Experiment& experiment);     // without its rounds
nlohmann::ordered_json to_document_with_rounds(const Experiment& experiment);

// ---- judgements of two commands, or of two dispatches by an application
nlohmann::ordered_json to_document(const ProgramComparison& comparison);  // without its rounds or runs
nlohmann::ordered_json to_document_with_runs(const ProgramComparison& comparison);
nlohmann::ordered_json asked_document(const ProgramComparison& comparison);  // of its kind

// ---- what was seen, and what it led to
nlohmann::ordered_json to_document(const Roof& roof);
nlohmann::ordered_json to_document(const StallSample& stall);
nlohmann::ordered_json to_document(const Profile& profile);
nlohmann::ordered_json to_document(const Bottleneck& bottleneck);
nlohmann::ordered_json to_document(const Candidate& candidate);
nlohmann::ordered_json to_document(const LeftOut& left_out);
nlohmann::ordered_json to_document(const ResearchBrief& brief);
nlohmann::ordered_json to_document(const Lesson& lesson);

// ---- what somebody outside proposed
nlohmann::ordered_json to_document(const Proposal& proposal);
nlohmann::ordered_json to_document(const ProposerCall& call);

// ---- campaigns
nlohmann::ordered_json to_document(const Campaign& campaign);  // the seed of an open one is secret
nlohmann::ordered_json to_document(const Certification& certification);

// ---- applications
nlohmann::ordered_json to_document(const ProcessTimes& process);  // without its work
nlohmann::ordered_json to_document(const WorkRow& row);
nlohmann::ordered_json to_document(const RangeRow& row);
nlohmann::ordered_json to_document(const ApplicationProfile& profile, const ApplicationSummary& summary);

template <class Records>
nlohmann::ordered_json to_documents(const Records& records);
// A value as it stands in a document: a record that has one is its document, and what is absent is null.
template <class T>
nlohmann::ordered_json document_of(const T& value) {
  if constexpr (requires { to_document(value); }) {
    return to_document(value);
  } else if constexpr (json_codec::kIs<T, std::optional>) {
    return value ? document_of(*value) : nlohmann::ordered_json(nullptr);
  } else if constexpr (json_codec::kIs<T, std::vector>) {
    return to_documents(value);
  } else {
    return json_of(value);
  }
}
template <class Records>
nlohmann::ordered_json to_documents(const Records& records) {
  return list_of(records, [](const auto& one) { return document_of(one); });
}

template <class... Members>
nlohmann::ordered_json document_of_members(std::string_view names, const Members&... members) {
  auto document = nlohmann::ordered_json::object();
  visit_members(
      names, [&](std::string_view name, const auto& one) { document[std::string(name)] = document_of(one); },
      members...);
  return document;
}
// APO_DOCUMENT(name, value) is these members of `record`, under their names.
#define APO_DOCUMENT(...) apo::document_of_members(#__VA_ARGS__, APO_MEMBERS(__VA_ARGS__))

}  // namespace apo
