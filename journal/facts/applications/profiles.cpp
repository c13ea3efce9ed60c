// journal/facts/applications/profiles.cpp - writes and reads profiles of whole applications.
#include <limits>

#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

void add_work(Database& database, std::int64_t profile, const ApplicationSummary& summary) {
  int position = 0;
  for (const WorkRow& row : summary.work) {
    database.run(
        "INSERT INTO application_work (profile, position, kind, name, category, calls, total_ns, min_ns, max_ns, bytes,"
        " share) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {profile, position++, to_string(row.work.kind), row.work.name, row.category, row.work.calls, row.work.total_ns,
         row.work.min_ns, row.work.max_ns, row.work.bytes, row.share});
  }
}

void add_metrics(Database& database, std::int64_t id, const ApplicationProfile& profile) {
  int position = 0;
  for (const KernelMetric& metric : profile.metrics) {
    database.run(
        "INSERT INTO application_metric (profile, position, kernel, name, unit, value, samples)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        {id, position++, metric.kernel, metric.name, metric.unit, metric.mean, metric.samples});
  }
}

void add_gaps(Database& database, std::int64_t id, const ApplicationSummary& summary) {
  for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
    if (summary.gaps[i].count > 0) {
      database.run("INSERT INTO application_gap (profile, limit_ns, count, ns) VALUES (?, ?, ?, ?)",
                   {id, i < kGapLimits.size() ? kGapLimits[i] : 0, summary.gaps[i].count, summary.gaps[i].ns});
    }
  }
}

void add_ranges(Database& database, std::int64_t profile, const ApplicationSummary& summary) {
  int position = 0;
  for (const RangeRow& row : summary.ranges) {
    database.run(
        "INSERT INTO application_range (profile, position, name, path, depth, entered, calls, total_ns, own_ns)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {profile, position, row.name, row.path, row.depth, row.entered, row.calls, row.total_ns, row.own_ns});
    for (const CategoryRow& category : row.categories) {
      database.run(
          "INSERT INTO application_range_category (profile, position, category, calls, total_ns)"
          " VALUES (?, ?, ?, ?, ?)",
          {profile, position, category.name, category.calls, category.total_ns});
    }
    ++position;
  }
}

WorkKind kind_of(const std::string& word) {
  return word == "copy" ? WorkKind::copy : word == "fill" ? WorkKind::fill : WorkKind::kernel;
}

double ceiling_of(double share) {
  return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

void read_work(Database& database, RecordedApplication& application, int limit) {
  Statement rows = database.query(
      "SELECT kind, name, category, calls, total_ns, share FROM application_work WHERE profile = ?"
      " ORDER BY position LIMIT ?",
      {application.id, limit});
  while (rows.step()) {
    WorkRow& row = application.work.emplace_back();
    row.work.kind = kind_of(rows.text());
    row.work.name = rows.text();
    row.category = rows.text();
    row.work.calls = rows.integer();
    row.work.total_ns = rows.integer();
    row.share = rows.real();
    row.ceiling = ceiling_of(row.share);
  }
}

void read_categories(Database& database, RecordedApplication& application) {
  Statement rows = database.query(
      "SELECT category, calls, total_ns, share FROM application_categories WHERE profile = ?"
      " ORDER BY total_ns DESC, category",
      {application.id});
  while (rows.step()) {
    CategoryRow& row = application.categories.emplace_back();
    row.name = rows.text();
    row.calls = rows.integer();
    row.total_ns = rows.integer();
    row.share = rows.real();
    row.ceiling = ceiling_of(row.share);
  }
}

void read_metrics(Database& database, RecordedApplication& application, int limit) {
  Statement rows = database.query(
      "SELECT kernel, name, unit, value, samples FROM application_metric WHERE profile = ? ORDER BY position LIMIT ?",
      {application.id, limit});
  while (rows.step()) {
    application.metrics.push_back({rows.text(), rows.text(), rows.text(), rows.real(), rows.integer()});
  }
}

void read_range_categories(Database& database, std::int64_t profile, std::int64_t position, RangeRow& range) {
  Statement rows = database.query(
      "SELECT category, calls, total_ns FROM application_range_category WHERE profile = ? AND position = ?"
      " ORDER BY total_ns DESC, category",
      {profile, position});
  while (rows.step()) {
    CategoryRow& row = range.categories.emplace_back();
    row.name = rows.text();
    row.calls = rows.integer();
    row.total_ns = rows.integer();
  }
}

void read_ranges(Database& database, RecordedApplication& application, int limit) {
  Statement rows = database.query(
      "SELECT position, name, path, depth, entered, calls, total_ns, own_ns, count(*) OVER () FROM application_range"
      " WHERE profile = ? AND calls > 0 ORDER BY position LIMIT ?",
      {application.id, limit});
  while (rows.step()) {
    const std::int64_t position = rows.integer();
    RangeRow& range = application.ranges.emplace_back();
    range.name = rows.text();
    range.path = rows.text();
    range.depth = rows.small();
    range.entered = rows.integer();
    range.calls = rows.integer();
    range.total_ns = rows.integer();
    range.own_ns = rows.integer();
    range.share = application.total_ns > 0 ? static_cast<double>(range.total_ns) / application.total_ns : 0;
    application.all_ranges = rows.integer();
    read_range_categories(database, application.id, position, range);
  }
}

}  // namespace

std::int64_t Journal::add_application(const ApplicationProfile& profile, const ApplicationSummary& summary,
                                      const std::string& machine) {
  Transaction transaction(self_->database);
  const Value exit_code = profile.exit_code ? Value(*profile.exit_code) : Value(nullptr);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO application_profile (machine, source, command, device, exit_code, signal, seconds, processes,"
      " total_ns, span_ns, busy_ns, longest_gap_ns, notes, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {machine.empty() ? Value(nullptr) : Value(self_->machine_row(machine)), profile.source, profile.command,
       profile.device, exit_code, profile.signal, profile.seconds, static_cast<std::int64_t>(profile.processes.size()),
       summary.total_ns, summary.span_ns, summary.busy_ns, summary.longest_gap_ns, encode(profile.notes),
       time_or_now("")});
  add_work(self_->database, id, summary);
  add_metrics(self_->database, id, profile);
  add_gaps(self_->database, id, summary);
  add_ranges(self_->database, id, summary);
  transaction.commit();
  return id;
}

std::optional<ApplicationRow> Journal::newest_application() {
  Statement found = self_->database.query(
      "SELECT id, command, total_ns, span_ns, busy_ns, longest_gap_ns FROM application_profile"
      " WHERE total_ns > 0 ORDER BY id DESC LIMIT 1");
  if (!found.step()) {
    return std::nullopt;
  }
  ApplicationRow application{.id = found.integer()};
  application.command = found.text();
  application.summary.total_ns = found.integer();
  application.summary.span_ns = found.integer();
  application.summary.busy_ns = found.integer();
  application.summary.longest_gap_ns = found.integer();
  Statement rows = self_->database.query(
      "SELECT kind, name, category, calls, total_ns, min_ns, max_ns, bytes, share FROM application_work"
      " WHERE profile = ? ORDER BY position",
      {application.id});
  while (rows.step()) {
    WorkRow row;
    row.work.kind = kind_of(rows.text());
    row.work.name = rows.text();
    row.category = rows.text();
    row.work.calls = rows.integer();
    row.work.total_ns = rows.integer();
    row.work.min_ns = rows.integer();
    row.work.max_ns = rows.integer();
    row.work.bytes = rows.integer();
    row.share = rows.real();
    row.ceiling = ceiling_of(row.share);
    application.summary.work.push_back(std::move(row));
  }
  return application;
}

std::vector<RecordedApplication> Journal::applications_of(std::int64_t campaign, const ApplicationLimits& limits) {
  std::vector<RecordedApplication> applications;
  Statement rows = self_->database.query(
      "SELECT a.id, a.at, a.source, a.command, a.total_ns, a.busy_ns, a.span_ns, a.notes,"
      " (SELECT count(*) FROM application_work w WHERE w.profile = a.id) FROM application_profile a"
      " WHERE a.machine IS NULL OR a.machine = (SELECT machine FROM campaign WHERE id = ?) ORDER BY a.id DESC LIMIT ?",
      {campaign, limits.applications});
  while (rows.step()) {
    RecordedApplication& application = applications.emplace_back();
    application.id = rows.integer();
    application.at = rows.text();
    application.source = rows.text();
    application.command = rows.text();
    application.total_ns = rows.real();
    application.busy_ns = rows.real();
    application.span_ns = rows.real();
    application.notes = decode_list(rows.text());
    application.kernels = rows.integer();
    read_work(self_->database, application, limits.work);
    read_categories(self_->database, application);
    read_metrics(self_->database, application, limits.metrics);
    read_ranges(self_->database, application, limits.ranges);
  }
  return applications;
}

}  // namespace apo
