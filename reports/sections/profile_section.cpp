// reports/sections/profile_section.cpp - where the time goes: profiles against their floor, roofs, bottlenecks and
// rankings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "harness/core/records/profile.h"
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

void write_brief(const IterationRecord& iteration, Writer& writer) {
  if (iteration.brief.bottlenecks.empty() && iteration.brief.ranked.empty()) {
    return;
  }
  writer.heading(3, {fmt::format("Iteration {}: bottlenecks of ", iteration.index), code(iteration.incumbent.label())});
  if (!iteration.brief.bottlenecks.empty()) {
    write_bottlenecks(iteration.brief.bottlenecks, writer);
  }
  if (!iteration.brief.ranked.empty()) {
    write_ranking("Ranked candidates", iteration.brief.ranked, writer);
  }
}

}  // namespace

void write_metrics(const Profile& profile, Writer& writer) {
  // Of work that the family does not count.
  const std::set<std::string> counted = {"gflops",     "special_per_s", "intensity",    "floor_flops",
                                         "busy_flops", "floor_special", "busy_special", "gb_per_s"};
  Table table{{"metric", "value"}, {}};
  for (const Metric& metric : profile.metrics) {
    if (metric.value != 0 || !counted.contains(metric.name)) {
      table.rows.push_back({metric.name, metric_text(metric)});
    }
  }
  if (!table.rows.empty()) {
    write_folded({"Metrics of ", code(profile.configuration.label()), " on " + profile.workload}, table, writer);
  }
}

// The source lines that most samples fall on.
void write_hot_lines(const Profile& profile, Writer& writer) {
  constexpr std::size_t kShown = 10;
  Table table{{"line", "samples", "share", "mostly", "source"}, {}};
  for (const HotLine& line : hot_lines(profile, kShown)) {
    table.rows.push_back({code(fmt::format("{}:{}", line.file, line.line)),
                          line.samples,
                          percent_text(line.share),
                          line.stall + ", " + percent_text(line.stall_share),
                          {code(line.text), line.inlined.empty() ? "" : " <- " + line.inlined}});
  }
  if (!table.rows.empty()) {
    writer.paragraph({"Hottest lines of ", code(profile.configuration.label()), " on " + profile.workload});
    writer.table(table);
  }
}

void write_launches(const Profile& profile, Writer& writer) {
  constexpr std::size_t kShown = 16;  // of more the kernels are shown, those that take longest first
  if (profile.launches.size() < 2) {
    return;
  }
  struct Row {
    ProfiledLaunch launch;  // the first of its kernel
    double time_ns = 0;
    std::size_t count = 0;
  };
  const bool in_order = profile.launches.size() <= kShown;
  std::vector<Row> rows;
  double all = 0;
  for (const ProfiledLaunch& one : profile.launches) {
    const auto same =
        std::ranges::find_if(rows, [&](const Row& row) { return !in_order && row.launch.kernel == one.kernel; });
    Row& row = same != rows.end() ? *same : rows.emplace_back(Row{.launch = one});
    row.time_ns += one.time_ns;
    ++row.count;
    all += one.time_ns;
  }
  if (!(all > 0)) {
    return;  // they were not timed
  }
  if (!in_order) {
    std::ranges::stable_sort(rows, std::greater{}, &Row::time_ns);
  }
  const double share = all / profile.time_ns;
  writer.paragraph({fmt::format("{} launches", profile.launches.size()), " of ", code(profile.configuration.label()),
                    fmt::format(": each by itself, together {}{}", time_text(all),
                                share < 1 ? fmt::format("; {} of a call's time are before, between and behind them",
                                                        percent_text(1 - share))
                                          : fmt::format(" of a call's {}: they overlap, or are slower one by one",
                                                        time_text(profile.time_ns)))});
  Table table{{"launch", "kernel", "time", "share", "DRAM", "active warps", "issue slots", "mostly"}, {}};
  const auto percent = [](double value) { return std::isfinite(value) ? percent_text(value) : std::string(); };
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const ProfiledLaunch& launch = rows[i].launch;
    table.rows.push_back({in_order ? fmt::format("{}", i + 1) : fmt::format("{} times", rows[i].count),
                          code(launch.kernel), time_text(rows[i].time_ns), percent(rows[i].time_ns / all),
                          std::isfinite(launch.bytes_moved) ? format_bytes(launch.bytes_moved) : "",
                          percent(launch.occupancy), percent(launch.issue),
                          launch.stall.empty() ? "" : launch.stall + ", " + percent(launch.stall_share)});
  }
  writer.table(table);
}

void write_roofs(const std::vector<Roof>& roofs, Writer& writer) {
  if (roofs.empty()) {
    writer.paragraph("No roof of this machine was measured, so there is no floor to hold a time against.");
    return;
  }
  Table table{{"roof", "measured on this machine", "how"}, {}};
  for (const Roof& roof : roofs) {
    table.rows.push_back({roof.name, roof_text(roof), roof.note});
  }
  write_folded("Roofs of this machine", table, writer);
}

void write_bottlenecks(const std::vector<Bottleneck>& bottlenecks, Writer& writer) {
  Table table{{"bottleneck", "kind", "worth", "mostly at", "evidence"}, {}};
  for (const Bottleneck& one : bottlenecks) {
    table.rows.push_back({one.name, to_string(one.kind),
                          one.bound == 1  ? "nothing"
                          : one.bound > 0 ? worth_text(one)
                                          : kNotMeasuredText,
                          one.line == 0 ? "no one line" : code(fmt::format("{}:{}", one.file, one.line)),
                          one.evidence});
  }
  writer.table(table);
}

void write_ranking(const std::string& title, const std::vector<Candidate>& ranked, Writer& writer) {
  Table table{{"rank", "candidate", "attacks", "predicted", "score", "from", "why"}, {}};
  for (const Candidate& one : ranked) {
    table.rows.push_back(
        {table.rows.size() + 1, code(one.configuration.label()), one.attacks, band_text(one.prediction),
         std::isfinite(one.score) ? format_g(one.score, 3) : kNotMeasuredText, to_string(one.origin), one.why});
  }
  write_folded(title, table, writer);
}

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
    const std::vector<Profile>& latest = model.last_profiles.empty() ? model.first_profiles : model.last_profiles;
    for (const Profile& profile : latest) {
      write_launches(profile, writer);
      write_hot_lines(profile, writer);
      write_metrics(profile, writer);
    }
    write_roofs(latest.front().roofs, writer);
  }
  for (const IterationRecord& iteration : model.iterations) {
    write_brief(iteration, writer);
  }
}

}  // namespace apo::report
