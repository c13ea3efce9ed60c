// journal/facts/campaigns.cpp - writes and reads campaigns and iterations, and finds what a killed process left open.
#include "journal/facts/campaigns.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/columns.h"

namespace apo {

APO_COLUMNS_AS(IterationRow,
               "id, campaign, idx, incumbent, started_at,"
               " (SELECT ended_at FROM iteration_end WHERE iteration = iteration.id),"
               " (SELECT note FROM iteration_end WHERE iteration = iteration.id)",
               id, campaign, index, incumbent, started_at, ended_at, note)

std::int64_t begin_campaign(Journal& journal, const Campaign& campaign) {
  Transaction transaction(database_of(journal));
  const std::string hash = database_of(journal).text(
      "SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1", {campaign.baseline.variant});
  const std::int64_t id = insert_row(journal, "campaign", campaign,
                                     {{"machine", machine_row(journal, campaign.machine)},
                                      {"baseline_source", hash.empty() ? Value(nullptr) : Value(hash)},
                                      {"started_at", time_or_now(campaign.started_at)}});
  take(journal, Task::campaign, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void take_campaign(Journal& journal, const Campaign& campaign) {
  if (!try_take(journal, Task::campaign, campaign.id)) {
    const auto who = holder_of(journal, Task::campaign, campaign.id);
    throw UserError(
        fmt::format("campaign {} of {}, class {}, on this machine is being run by {}", campaign.id,
                    campaign.policy.family, campaign.policy.workload_class, who.value_or("another process")),
        "wait for it to end or stop it; another family or class can run beside it, and another journal with "
        "--journal can hold this one");
  }
}

void finish_campaign(Journal& journal, std::int64_t id, std::uint64_t seed, const std::string& note) {
  database_of(journal).run("INSERT INTO campaign_end (campaign, seed, note, ended_at) VALUES (?, ?, ?, ?)",
                           {id, seed, note, utc_now()});
}

std::int64_t begin_iteration(Journal& journal, const IterationRow& iteration) {
  Transaction transaction(database_of(journal));
  const std::int64_t id =
      insert_row(journal, "iteration", iteration, {{"started_at", time_or_now(iteration.started_at)}});
  transaction.commit();
  return id;
}

void finish_iteration(Journal& journal, std::int64_t id, const std::string& note) {
  database_of(journal).run("INSERT INTO iteration_end (iteration, note, ended_at) VALUES (?, ?, ?)",
                           {id, note, utc_now()});
}

std::optional<Campaign> find_campaign(Journal& journal, std::int64_t id) {
  return first_of(read_rows<Campaign>(journal, "campaign WHERE id = ?", {id}));
}

std::vector<Campaign> all_campaigns(Journal& journal) {
  return read_rows<Campaign>(journal, "campaign ORDER BY id");
}

std::optional<Campaign> find_open_campaign(Journal& journal, const std::string& family,
                                           const std::string& workload_class, const std::string& machine) {
  return first_of(read_rows<Campaign>(
      journal,
      "campaign WHERE family = ? AND workload_class = ? AND machine IN (SELECT id FROM machine WHERE key = ?)"
      " AND id IN (SELECT id FROM campaigns WHERE state = 'open') ORDER BY id DESC",
      {family, workload_class, machine}));
}

std::vector<IterationRow> iterations_of(Journal& journal, std::int64_t campaign) {
  return read_rows<IterationRow>(journal, "iteration WHERE campaign = ? ORDER BY id", {campaign});
}

}  // namespace apo
