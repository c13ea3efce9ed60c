// reports/sections/application_section.cpp - whole applications: kernels, categories, and NVTX ranges.
#include <fmt/format.h>

#include <cmath>
#include <span>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

std::string ns_text(std::int64_t ns) {
  return time_text(static_cast<double>(ns));
}

std::string ceiling_text(double ceiling) {
  return std::isfinite(ceiling) ? format_ratio(ceiling) : "all of it";
}

void write_head(const Application& application, Writer& writer) {
  Line line = {code(application.command),
               ", profiled " + application.at + ": " + time_text(application.total_ns) + " of work on the GPU"};
  if (application.span_ns > 0) {
    line.push_back(", busy for " + percent_text(application.busy_ns / application.span_ns) + " of " +
                   time_text(application.span_ns));
  }
  line.push_back(".");
  writer.paragraph(line);
}

// "gemm 80 %, copies 20 %": what the time of a range went into.
std::string parts_text(const RangeRow& range) {
  std::vector<std::string> parts;
  for (const CategoryRow& one : range.categories) {
    if (one.total_ns > 0) {
      parts.push_back(one.name + " " +
                      percent_text(static_cast<double>(one.total_ns) / static_cast<double>(range.total_ns)));
    }
  }
  return join(parts, ", ");
}

}  // namespace

void write_work(std::span<const WorkRow> rows, std::int64_t all, const std::vector<CategoryRow>& categories,
                Writer& writer) {
  Table work{{"kernel, copy or fill", "category", "calls", "total", "average", "min", "max", "share", "ceiling"}, {}};
  for (const WorkRow& row : rows) {
    work.rows.push_back({code(row.work.name), row.category, row.work.calls, ns_text(row.work.total_ns),
                         time_text(static_cast<double>(row.work.total_ns) / static_cast<double>(row.work.calls)),
                         ns_text(row.work.min_ns), ns_text(row.work.max_ns), percent_text(row.share),
                         ceiling_text(row.ceiling)});
  }
  writer.table(work);
  if (all > std::ssize(rows)) {
    writer.paragraph(fmt::format("These are the first {} of {}. All of them by category:", rows.size(), all));
  }
  Table table{{"category", "calls", "total", "share", "ceiling"}, {}};
  for (const CategoryRow& row : categories) {
    table.rows.push_back(
        {row.name, row.calls, ns_text(row.total_ns), percent_text(row.share), ceiling_text(row.ceiling)});
  }
  writer.table(table);
}

void write_ranges(std::span<const RangeRow> rows, std::int64_t all, Writer& writer) {
  if (rows.empty()) {
    return;
  }
  Table table{{"NVTX range", "entered", "launched", "total", "alone", "share", "into"}, {}};
  for (const RangeRow& row : rows) {
    table.rows.push_back({code(row.path), row.entered, row.calls, ns_text(row.total_ns), ns_text(row.own_ns),
                          percent_text(row.share), parts_text(row)});
  }
  writer.paragraph("By NVTX range, with what was launched while it was open; alone: without the ranges within.");
  writer.table(table);
  if (all > std::ssize(rows)) {
    writer.paragraph(fmt::format("These are the first {} of {} ranges.", rows.size(), all));
  }
}

void write_applications(const ReportModel& model, Writer& writer) {
  if (model.applications.empty()) {
    return;  // most campaigns are about a kernel alone
  }
  writer.heading(2, "Applications");
  writer.paragraph("Ceiling: how much faster the GPU's work as a whole could get if this took no time.");
  for (const Application& application : model.applications) {
    write_head(application, writer);
    if (!application.work.empty()) {
      write_work(application.work, application.kernels, application.categories, writer);
    }
    write_ranges(application.ranges, application.all_ranges, writer);
    std::vector<Line> notes;
    for (const std::string& note : application.notes) {
      notes.push_back(note);
    }
    if (!notes.empty()) {
      writer.list(notes);
    }
  }
}

}  // namespace apo::report
