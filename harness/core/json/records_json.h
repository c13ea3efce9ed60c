// harness/core/json/records_json.h - the records as JSON: one form for the command line, the reports and the brief.
//
// Fields have the names of the records. Missing measurements and non-finite numbers are null. Effects are ratios: 1.25
// is 1.25 times as fast. A whole document also has {"format": kRecordsFormat}.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/core/applications/application_profile.h"
#include "harness/core/comparisons/comparison.h"
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
nlohmann::ordered_json to_document(const WorkRow& row);
nlohmann::ordered_json to_document(const RangeRow& row);
nlohmann::ordered_json to_document(const ApplicationProfile& profile, const ApplicationSummary& summary);

// Converts a list of records.
template <class Record>
nlohmann::ordered_json to_documents(const std::vector<Record>& records) {
  return list_of(records, [](const Record& one) { return to_document(one); });
}

}  // namespace apo
