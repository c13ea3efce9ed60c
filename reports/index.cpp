// reports/index.cpp - see index.h.
#include "reports/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "reports/formats/pages.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

constexpr const char* kTitle = "Campaigns";

std::string device_of(const ReportModel& model) {
  const std::string& name = model.machine.model;
  return name.empty() ? known(model.campaign.machine) : name;
}

std::string verdicts_of(const ReportModel& model) {
  const auto accepted = std::count_if(model.experiments.begin(), model.experiments.end(), [](const Experiment& one) {
    return one.judgement->verdict == Verdict::accepted;
  });
  return fmt::format("{} of {}", accepted, model.experiments.size());
}

std::vector<Line> row_of(const IndexEntry& entry) {
  const ReportModel& model = entry.model;
  return {Span(report_title(model), Style::plain, entry.link),
          model.claim      ? certified_figure(*model.claim)
          : model.improved ? "not certified"
                           : "none",
          code(model.incumbent),
          verdicts_of(model),
          std::string(to_string(model.campaign.state)),
          known(model.campaign.started_at),
          code(entry.journal)};
}

void write_overview(const std::vector<IndexEntry>& entries, Writer& writer) {
  std::map<std::string, Table> devices;
  for (const IndexEntry& entry : entries) {
    Table& table = devices[device_of(entry.model)];
    table.header = {"campaign", "certified speed-up", "final incumbent", "accepted", "state", "started", "journal"};
    table.sortable = true;
    table.rows.push_back(row_of(entry));
  }
  writer.heading(1, kTitle);
  writer.lead({strong(counted(entries.size(), "campaign")), " on " + counted(devices.size(), "device") + "."});
  writer.paragraph(
      "Certified speed-up: the final incumbent against the campaign's baseline, measured head to "
      "head. Figures of different workloads and devices are not comparable.");
  writer.contents();
  for (const auto& [device, table] : devices) {
    writer.heading(2, device);
    writer.table(table);
  }
}

}  // namespace

std::string render_index(const std::vector<IndexEntry>& entries, Format format) {
  const auto write = [&](Writer& writer) { write_overview(entries, writer); };
  return format == Format::html ? html_page(kTitle, {}, write) : markdown_page({}, {}, write);
}

std::filesystem::path write_index(const std::vector<IndexEntry>& entries, Format format,
                                  const std::filesystem::path& folder) {
  if (format != Format::html && format != Format::markdown) {
    throw UserError("an index is a page to read", "give --format html or markdown");
  }
  for (const IndexEntry& entry : entries) {
    write_report(entry.model, format, (folder / entry.link).parent_path());
  }
  const std::filesystem::path path = folder / (format == Format::html ? "index.html" : "index.md");
  write_file_atomically(path, render_index(entries, format));
  return path;
}

}  // namespace apo::report
