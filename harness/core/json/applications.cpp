// harness/core/json/applications.cpp - where the GPU time of a whole application went.
#include "harness/core/json/codec.h"
#include "harness/core/json/records_json.h"

namespace apo {

using Json = nlohmann::ordered_json;

namespace {

Json process_document(const ProcessTimes& process) {
  return {{"pid", process.pid},         {"parent", process.parent},   {"program", process.program},
          {"library", process.library}, {"missing", process.missing}, {"complete", process.complete},
          {"dropped", process.dropped}, {"untimed", process.untimed}};
}

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

Json to_document(const RangeRow& row) {
  return {{"path", row.path},
          {"name", row.name},
          {"depth", row.depth},
          {"entered", row.entered},
          {"calls", row.calls},
          {"total_ns", row.total_ns},
          {"own_ns", row.own_ns},
          {"share", number_or_null(row.share)},
          {"categories", json_of(row.categories)}};
}

Json to_document(const ApplicationProfile& profile, const ApplicationSummary& summary) {
  return {{"source", profile.source},
          {"command", profile.command},
          {"exit_code", profile.exit_code ? Json(*profile.exit_code) : Json(nullptr)},
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
          {"metrics", json_of(profile.metrics)},
          {"processes", list_of(profile.processes, process_document)},
          {"notes", profile.notes}};
}

}  // namespace apo
