// reports/sections/profile_section.cpp - where the time goes: profiles against their floor, roofs, bottlenecks and
// rankings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/records/stalls.h"
#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

void add_profile(Table& table, const std::string& when, const Profile& profile) {
  table.rows.push_back(
      {when, code(profile.configuration.label()), profile.workload, time_text(profile.time_ns),
       time_text(profile.floor_ns) + (profile.floor_roof.empty() ? "" : " (" + profile.floor_roof + ")"),
       profile.floor_fraction > 0 ? percent_text(profile.floor_fraction) : kNotMeasuredText, profile.rung});
}

void write_metrics(const Profile& profile, Writer& writer) {
  if (profile.metrics.empty()) {
    return;
  }
  Table table{{"metric", "value"}, {}};
  for (const Metric& metric : profile.metrics) {
    table.rows.push_back({metric.name, metric_text(metric)});
  }
  write_folded({"Metrics of ", code(profile.configuration.label()), " on " + profile.workload}, table, writer);
}

// The source lines that most samples fall on.
void write_hot_lines(const Profile& profile, Writer& writer) {
  constexpr std::size_t kShown = 10;
  Table table{{"line", "share of the samples", "mostly", "source"}, {}};
  for (const HotLine& line : hot_lines(profile, kShown)) {
    table.rows.push_back({code(fmt::format("{}:{}", line.file, line.line)), percent_text(line.share),
                          line.stall + ", " + percent_text(line.stall_share), code(line.text)});
  }
  if (!table.rows.empty()) {
    writer.paragraph({"Hottest lines of ", code(profile.configuration.label()), " on " + profile.workload});
    writer.table(table);
  }
}

void write_roofs(const Profile& profile, Writer& writer) {
  if (profile.roofs.empty()) {
    writer.paragraph("No roof of this machine was measured, so there is no floor to hold a time against.");
    return;
  }
  Table table{{"roof", "measured on this machine", "how"}, {}};
  for (const Roof& roof : profile.roofs) {
    table.rows.push_back({roof.name, roof_text(roof), roof.note});
  }
  write_folded("Roofs of this machine", table, writer);
}

void list_missing(const ReportModel& model, Writer& writer) {
  std::vector<Line> items;
  for (const auto* profiles : {&model.first_profiles, &model.last_profiles}) {
    for (const Profile& profile : *profiles) {
      const Line item = "Not available: " + profile.missing;
      const bool seen = std::any_of(items.begin(), items.end(),
                                    [&](const Line& other) { return other.front().text == item.front().text; });
      if (!profile.missing.empty() && !seen) {
        items.push_back(item);
      }
    }
  }
  if (!items.empty()) {
    writer.list(items);
  }
}

Line place_of(const Bottleneck& bottleneck) {
  return bottleneck.line == 0 ? "no one line" : code(fmt::format("{}:{}", bottleneck.file, bottleneck.line));
}

void write_brief(const IterationRecord& iteration, Writer& writer) {
  if (iteration.brief.bottlenecks.empty() && iteration.brief.ranked.empty()) {
    return;
  }
  writer.heading(3, {fmt::format("Iteration {}: bottlenecks of ", iteration.index), code(iteration.incumbent.label())});
  Table bottlenecks{{"bottleneck", "kind", "could give back at most", "mostly at", "evidence"}, {}};
  for (const Bottleneck& bottleneck : iteration.brief.bottlenecks) {
    bottlenecks.rows.push_back({bottleneck.name, std::string(to_string(bottleneck.kind)),
                                bottleneck.bound == 1  ? "nothing"
                                : bottleneck.bound > 0 ? format_ratio(bottleneck.bound)
                                                       : kNotMeasuredText,
                                place_of(bottleneck), bottleneck.evidence});
  }
  if (!bottlenecks.rows.empty()) {
    writer.table(bottlenecks);
  }
  Table ranking{{"rank", "candidate", "attacks", "predicted", "score", "from", "why"}, {}};
  for (const Candidate& candidate : iteration.brief.ranked) {
    ranking.rows.push_back({ranking.rows.size() + 1, code(candidate.configuration.label()), candidate.attacks,
                            band_text(candidate.prediction),
                            std::isfinite(candidate.score) ? format_g(candidate.score, 3) : kNotMeasuredText,
                            std::string(to_string(candidate.origin)), candidate.why});
  }
  if (!ranking.rows.empty()) {
    write_folded("Ranked candidates", ranking, writer);
  }
}

}  // namespace

void write_profile(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Where the time goes");
  if (model.first_profiles.empty()) {
    writer.paragraph("No incumbent was profiled.");
  } else {
    Table table{{"incumbent", "configuration", "workload", "time of a call", "floor", "floor / time", "how"}, {}};
    for (const Profile& profile : model.first_profiles) {
      add_profile(table, "first", profile);
    }
    for (const Profile& profile : model.last_profiles) {
      add_profile(table, "last", profile);
    }
    writer.table(table);
    list_missing(model, writer);
    if (!writer.plot("roofline")) {
      writer.paragraph("No roofline: it needs a rate of operations and one of bytes, and no profile has both.");
    }
    writer.plot("stalls");  // absent without samples or stall counters
    const std::vector<Profile>& latest = model.last_profiles.empty() ? model.first_profiles : model.last_profiles;
    for (const Profile& profile : latest) {
      write_hot_lines(profile, writer);
      write_metrics(profile, writer);
    }
    write_roofs(latest.front(), writer);
  }
  for (const IterationRecord& iteration : model.iterations) {
    write_brief(iteration, writer);
  }
}

}  // namespace apo::report
