// journal/facts/applications.cpp - writes and reads profiles of whole applications.
#include "journal/facts/applications.h"

#include <limits>

#include "journal/columns.h"

namespace apo {

APO_COLUMNS_AS(WorkRow, "kind, name, category, calls, total_ns, min_ns, max_ns, bytes, share", work.kind, work.name,
               category, work.calls, work.total_ns, work.min_ns, work.max_ns, work.bytes, share)
APO_COLUMNS_AS(CategoryRow, "category, calls, total_ns", name, calls, total_ns)
APO_COLUMNS(RangeRow, name, path, depth, entered, calls, total_ns, own_ns)
APO_COLUMNS_AS(RecordedApplication,
               "id, at, command, total_ns, busy_ns, span_ns, notes,"
               " (SELECT count(*) FROM application_work WHERE profile = application_profile.id)",
               id, at, command, total_ns, busy_ns, span_ns, notes, kernels)
APO_COLUMNS_AS(ApplicationRow, "id, command, total_ns, span_ns, busy_ns, longest_gap_ns", id, command, summary.total_ns,
               summary.span_ns, summary.busy_ns, summary.longest_gap_ns)

namespace {

void add_gaps(Database& database, std::int64_t id, const ApplicationSummary& summary) {
  for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
    if (summary.gaps[i].count > 0) {
      database.run("INSERT INTO application_gap (profile, limit_ns, count, ns) VALUES (?, ?, ?, ?)",
                   {id, i < kGapLimits.size() ? kGapLimits[i] : 0, summary.gaps[i].count, summary.gaps[i].ns});
    }
  }
}

void add_ranges(Journal& journal, std::int64_t profile, const ApplicationSummary& summary) {
  int position = 0;
  for (const RangeRow& row : summary.ranges) {
    insert_row(journal, "application_range", row, {{"profile", profile}, {"position", position}});
    for (const CategoryRow& category : row.categories) {
      insert_row(journal, "application_range_category", category, {{"profile", profile}, {"position", position}});
    }
    ++position;
  }
}

double ceiling_of(double share) {
  return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

std::vector<WorkRow> work_of(Journal& journal, std::int64_t profile, int limit) {
  std::vector<WorkRow> work =
      read_rows<WorkRow>(journal, "application_work WHERE profile = ? ORDER BY position LIMIT ?", {profile, limit});
  for (WorkRow& row : work) {
    row.ceiling = ceiling_of(row.share);
  }
  return work;
}

std::vector<CategoryRow> categories_of(Journal& journal, std::int64_t profile) {
  std::vector<CategoryRow> categories;
  Statement rows =
      database_of(journal).query("SELECT share, " + columns_of<CategoryRow>() +
                                     " FROM application_categories WHERE profile = ? ORDER BY total_ns DESC, category",
                                 {profile});
  while (rows.step()) {
    CategoryRow& row = categories.emplace_back();
    row.share = rows.real();
    row.ceiling = ceiling_of(row.share);
    read_row(journal, rows, row);
  }
  return categories;
}

void read_ranges(Journal& journal, RecordedApplication& application, int limit) {
  Statement rows = database_of(journal).query(
      "SELECT position, count(*) OVER (), " + columns_of<RangeRow>() +
          " FROM application_range WHERE profile = ? AND calls > 0 ORDER BY position LIMIT ?",
      {application.id, limit});
  while (rows.step()) {
    const std::int64_t position = rows.integer();
    application.all_ranges = rows.integer();
    RangeRow& range = application.ranges.emplace_back();
    read_row(journal, rows, range);
    range.share = application.total_ns > 0 ? static_cast<double>(range.total_ns) / application.total_ns : 0;
    range.categories = read_rows<CategoryRow>(
        journal, "application_range_category WHERE profile = ? AND position = ? ORDER BY total_ns DESC, category",
        {application.id, position});
  }
}

}  // namespace

std::int64_t add_application(Journal& journal, const ApplicationProfile& profile, const ApplicationSummary& summary,
                             const std::string& machine) {
  Transaction transaction(database_of(journal));
  const std::string notes = encode(profile.notes);
  const std::string now = utc_now();
  const std::int64_t id = database_of(journal).insert_into(
      "application_profile", {{"machine", machine_row(journal, machine)},
                              {"source", "run"},
                              {"command", profile.command},
                              {"device", profile.device},
                              {"exit_code", profile.exit_code ? Value(*profile.exit_code) : Value(nullptr)},
                              {"signal", profile.signal},
                              {"seconds", profile.seconds},
                              {"processes", static_cast<std::int64_t>(profile.processes.size())},
                              {"total_ns", summary.total_ns},
                              {"span_ns", summary.span_ns},
                              {"busy_ns", summary.busy_ns},
                              {"longest_gap_ns", summary.longest_gap_ns},
                              {"notes", notes},
                              {"at", now}});
  insert_rows(journal, "application_work", summary.work, {{"profile", id}});
  add_gaps(database_of(journal), id, summary);
  add_ranges(journal, id, summary);
  transaction.commit();
  return id;
}

std::optional<ApplicationRow> newest_application(Journal& journal) {
  std::optional<ApplicationRow> application =
      first_of(read_rows<ApplicationRow>(journal, "application_profile WHERE total_ns > 0 ORDER BY id DESC LIMIT 1"));
  if (application) {
    application->summary.work = work_of(journal, application->id, -1);
  }
  return application;
}

std::vector<RecordedApplication> applications_of(Journal& journal, std::int64_t campaign,
                                                 const ApplicationLimits& limits) {
  auto applications =
      read_rows<RecordedApplication>(journal,
                                     "application_profile WHERE machine = (SELECT machine FROM campaign WHERE id = ?)"
                                     " ORDER BY id DESC LIMIT ?",
                                     {campaign, limits.applications});
  for (RecordedApplication& application : applications) {
    application.work = work_of(journal, application.id, limits.work);
    application.categories = categories_of(journal, application.id);
    read_ranges(journal, application, limits.ranges);
  }
  return applications;
}

}  // namespace apo
