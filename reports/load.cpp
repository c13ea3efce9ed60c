// reports/load.cpp - see load.h.
#include "reports/load.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "journal/journal.h"
#include "journal/query/queries.h"

namespace apo::report {
namespace {

std::string text_of(const Cell& cell) {
  const std::string* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : "";
}

std::vector<IterationRecord> load_iterations(Journal& journal, std::int64_t campaign) {
  std::vector<IterationRecord> records;
  for (const IterationRow& row : journal.iterations(campaign)) {
    records.push_back({.id = row.id,
                       .index = row.index,
                       .started_at = row.started_at,
                       .incumbent = row.incumbent,
                       .profiles = journal.profiles_of_iteration(row.id),
                       .brief = journal.brief(row.id)});
  }
  return records;
}

std::vector<Sentinel> load_sentinels(Journal& journal, std::int64_t campaign) {
  std::vector<Sentinel> sentinels;
  for (const SentinelRow& row : journal.sentinels(campaign)) {
    sentinels.push_back({.at = row.at,
                         .configuration = row.configuration,
                         .effect = row.effect,
                         .lower = row.lower,
                         .upper = row.upper,
                         .confidence = row.confidence,
                         .spread = row.sd,
                         .rounds = row.rounds,
                         .alarm = row.alarm,
                         .cache_policy = row.cache_policy});
  }
  return sentinels;
}

std::map<std::int64_t, std::string> load_abandonments(Journal& journal, const std::string& campaign) {
  std::map<std::int64_t, std::string> abandonments;
  const apo::Table table =
      run_sql(journal.path(),
              "SELECT a.experiment, a.why FROM abandonment a JOIN experiment e ON e.id = a.experiment "
              "WHERE e.campaign = " +
                  campaign);
  for (const std::vector<Cell>& row : table.rows) {
    if (const std::int64_t* experiment = std::get_if<std::int64_t>(&row.at(0))) {
      abandonments[*experiment] = text_of(row.at(1));
    }
  }
  return abandonments;
}

double number_of(const Cell& cell) {
  const std::int64_t* integer = std::get_if<std::int64_t>(&cell);
  const double* real = std::get_if<double>(&cell);
  return integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? *real : kNotMeasured;
}

std::int64_t integer_of(const Cell& cell) {
  const std::int64_t* integer = std::get_if<std::int64_t>(&cell);
  return integer != nullptr ? *integer : 0;
}

double ceiling_of(double share) {
  return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

void load_work(Journal& journal, const std::string& id, Application& application) {
  const apo::Table work =
      run_sql(journal.path(),
              "SELECT name, category, calls, total_ns, share, kind, min_ns, max_ns, bytes FROM application_work"
              " WHERE profile = " +
                  id + " ORDER BY position LIMIT " + std::to_string(kShownWork));
  for (const std::vector<Cell>& row : work.rows) {
    const double share = number_of(row.at(4));
    application.work.push_back({.work = {.kind = work_kind_from(text_of(row.at(5))).value_or(WorkKind::kernel),
                                         .name = text_of(row.at(0)),
                                         .calls = integer_of(row.at(2)),
                                         .total_ns = integer_of(row.at(3)),
                                         .min_ns = integer_of(row.at(6)),
                                         .max_ns = integer_of(row.at(7)),
                                         .bytes = integer_of(row.at(8))},
                                .category = text_of(row.at(1)),
                                .share = share,
                                .ceiling = ceiling_of(share)});
  }
  const apo::Table categories = run_sql(
      journal.path(), "SELECT category, calls, total_ns, share FROM application_categories WHERE profile = " + id +
                          " ORDER BY total_ns DESC, category");
  for (const std::vector<Cell>& row : categories.rows) {
    const double share = number_of(row.at(3));
    application.categories.push_back({.name = text_of(row.at(0)),
                                      .calls = integer_of(row.at(1)),
                                      .total_ns = integer_of(row.at(2)),
                                      .share = share,
                                      .ceiling = ceiling_of(share)});
  }
  const apo::Table metrics = run_sql(
      journal.path(), "SELECT kernel, name, unit, value, samples FROM application_metric WHERE profile = " + id +
                          " ORDER BY position LIMIT " + std::to_string(kShownMetrics));
  for (const std::vector<Cell>& row : metrics.rows) {
    application.metrics.push_back({.kernel = text_of(row.at(0)),
                                   .name = text_of(row.at(1)),
                                   .unit = text_of(row.at(2)),
                                   .mean = number_of(row.at(3)),
                                   .samples = integer_of(row.at(4))});
  }
}

// Those that launched something.
void load_ranges(Journal& journal, const std::string& id, Application& application) {
  const std::string of_it = " FROM application_range WHERE profile = " + id + " AND calls > 0";
  const apo::Table ranges =
      run_sql(journal.path(), "SELECT name, path, depth, entered, calls, total_ns, own_ns, position, (SELECT count(*)" +
                                  of_it + ")" + of_it + " ORDER BY position LIMIT " + std::to_string(kShownRanges));
  for (const std::vector<Cell>& row : ranges.rows) {
    application.all_ranges = integer_of(row.at(8));
    RangeRow& range = application.ranges.emplace_back();
    range.name = text_of(row.at(0));
    range.path = text_of(row.at(1));
    range.depth = static_cast<int>(integer_of(row.at(2)));
    range.entered = integer_of(row.at(3));
    range.calls = integer_of(row.at(4));
    range.total_ns = integer_of(row.at(5));
    range.own_ns = integer_of(row.at(6));
    range.share = application.total_ns > 0 ? static_cast<double>(range.total_ns) / application.total_ns : 0;
    const apo::Table categories =
        run_sql(journal.path(),
                "SELECT category, calls, total_ns FROM application_range_category WHERE profile = " + id +
                    " AND position = " + std::to_string(integer_of(row.at(7))) + " ORDER BY total_ns DESC, category");
    for (const std::vector<Cell>& category : categories.rows) {
      const double share = number_of(category.at(2)) / static_cast<double>(range.total_ns);
      range.categories.push_back({.name = text_of(category.at(0)),
                                  .calls = integer_of(category.at(1)),
                                  .total_ns = integer_of(category.at(2)),
                                  .share = share,
                                  .ceiling = ceiling_of(share)});
    }
  }
}

std::vector<Application> load_applications(Journal& journal, const std::string& campaign) {
  std::vector<Application> applications;
  const apo::Table found =
      run_sql(journal.path(),
              "SELECT a.id, a.at, a.source, a.command, a.total_ns, a.busy_ns, a.span_ns, a.notes,"
              " (SELECT count(*) FROM application_work w WHERE w.profile = a.id) FROM application_profile a"
              " WHERE a.machine IS NULL OR a.machine = (SELECT machine FROM campaign WHERE id = " +
                  campaign +
                  ")"
                  " ORDER BY a.id DESC LIMIT " +
                  std::to_string(kShownApplications));
  for (const std::vector<Cell>& row : found.rows) {
    Application application{.id = integer_of(row.at(0)),
                            .at = text_of(row.at(1)),
                            .source = text_of(row.at(2)),
                            .command = text_of(row.at(3)),
                            .total_ns = number_of(row.at(4)),
                            .busy_ns = number_of(row.at(5)),
                            .span_ns = number_of(row.at(6)),
                            .kernels = integer_of(row.at(8))};
    const nlohmann::json notes = nlohmann::json::parse(text_of(row.at(7)), nullptr, false);
    for (const auto& note : notes.is_array() ? notes : nlohmann::json::array()) {
      application.notes.push_back(note.is_string() ? note.get<std::string>() : "");
    }
    load_work(journal, std::to_string(application.id), application);
    load_ranges(journal, std::to_string(application.id), application);
    applications.push_back(std::move(application));
  }
  return applications;
}

void load_end(Journal& journal, const std::string& campaign, CampaignRecords& records) {
  const apo::Table table =
      run_sql(journal.path(), "SELECT ended_at, note FROM campaign_end WHERE campaign = " + campaign +
                                  " UNION ALL SELECT at, why FROM abandonment WHERE campaign = " + campaign);
  if (!table.rows.empty()) {
    records.ended_at = text_of(table.rows.front().at(0));
    records.end_note = text_of(table.rows.front().at(1));
  }
}

}  // namespace

ReportModel load_model(Journal& journal, std::int64_t campaign) {
  const std::optional<Campaign> found = journal.campaign(campaign);
  if (!found) {
    throw UserError("the journal " + journal.path().string() + " has no campaign " + std::to_string(campaign),
                    "'apo query --sql \"SELECT * FROM campaigns\"' shows those that it has");
  }
  CampaignRecords records{.campaign = *found};
  records.iterations = load_iterations(journal, campaign);
  records.experiments = journal.experiments(campaign, Detail::rounds);
  records.lessons = journal.lessons({.campaign = campaign});
  records.certifications = journal.certifications(campaign);
  records.sentinels = load_sentinels(journal, campaign);
  records.abandonments = load_abandonments(journal, std::to_string(campaign));
  records.applications = load_applications(journal, std::to_string(campaign));
  load_end(journal, std::to_string(campaign), records);
  // The machine in the state that it was in; without an experiment, in its newest.
  std::optional<Machine> machine =
      records.experiments.empty() ? std::nullopt : journal.machine_of(records.experiments.front().id);
  machine = machine ? machine : journal.machine(found->machine);
  records.machine = machine.value_or(Machine{});
  return build_model(std::move(records));
}

std::int64_t newest_campaign(Journal& journal) {
  std::int64_t newest = 0;
  for (const Campaign& campaign : journal.campaigns()) {
    newest = std::max(newest, campaign.id);
  }
  if (newest == 0) {
    throw UserError("the journal " + journal.path().string() + " has no campaign to report on",
                    "'apo run' makes one; what other commands wrote, 'apo query' lists and 'apo show' shows");
  }
  return newest;
}

}  // namespace apo::report
