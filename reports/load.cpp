// reports/load.cpp - see load.h.
#include "reports/load.h"

#include <algorithm>

#include "harness/core/error.h"
#include "journal/journal.h"
#include "journal/queries.h"

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
  const Table table = run_sql(journal.path(),
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

void load_end(Journal& journal, const std::string& campaign, CampaignRecords& records) {
  const Table table =
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
