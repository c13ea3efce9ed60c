// harness/core/json/applications.cpp - where the GPU time of a whole application went.
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json gaps_document(const ApplicationSummary& summary) {
  Json gaps = Json::array();
  for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
    gaps.push_back({{"up_to_ns", i < kGapLimits.size() ? Json(kGapLimits[i]) : Json(nullptr)},
                    {"count", summary.gaps[i].count},
                    {"ns", summary.gaps[i].ns}});
  }
  return gaps;
}

}  // namespace

Json to_document(const ProcessTimes& record) {
  return APO_DOCUMENT(pid, parent, program, library, missing, complete, dropped, untimed);
}

Json to_document(const WorkRow& row) {
  const auto calls = static_cast<double>(row.work.calls);
  return {{"kind", to_string(row.work.kind)},
          {"name", row.work.name},
          {"category", row.category},
          {"calls", row.work.calls},
          {"total_ns", row.work.total_ns},
          {"average_ns", number_or_null(static_cast<double>(row.work.total_ns) / calls)},
          {"min_ns", row.work.min_ns},
          {"max_ns", row.work.max_ns},
          {"bytes", row.work.bytes},
          {"share", number_or_null(row.share)},
          {"ceiling", number_or_null(row.ceiling)}};
}

Json to_document(const RangeRow& record) {
  return APO_DOCUMENT(path, name, depth, entered, calls, total_ns, own_ns, share, categories);
}

Json to_document(const ApplicationProfile& profile, const ApplicationSummary& summary) {
  return {{"command", profile.command},
          {"exit_code", json_of(profile.exit_code)},
          {"signal", profile.signal},
          {"seconds", positive_or_null(profile.seconds)},
          {"device", profile.device},
          {"total_ns", summary.total_ns},
          {"span_ns", summary.span_ns},
          {"busy_ns", summary.busy_ns},
          {"idle_share", number_or_null(summary.idle_share())},
          {"longest_gap_ns", summary.longest_gap_ns},
          {"gaps", gaps_document(summary)},
          {"work", to_documents(summary.work)},
          {"categories", json_of(summary.categories)},
          {"ranges", to_documents(summary.ranges)},
          {"processes", to_documents(profile.processes)},
          {"notes", profile.notes}};
}

}  // namespace apo
