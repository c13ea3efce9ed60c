// journal/facts/campaigns.cpp - writes and reads campaigns and iterations, and finds what a killed process left open.
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/columns.h"

namespace apo {

std::int64_t Journal::begin_campaign(const Campaign& campaign) {
  Transaction transaction(self_->database);
  const std::string hash = self_->database.text(
      "SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1", {campaign.baseline.variant});
  const std::int64_t id = insert_row(*self_, "campaign", campaign,
                                     {{"machine", self_->machine_row(campaign.machine)},
                                      {"baseline_source", hash.empty() ? Value(nullptr) : Value(hash)},
                                      {"started_at", time_or_now(campaign.started_at)}});
  self_->take(Task::campaign, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void Journal::take_campaign(const Campaign& campaign) {
  if (!self_->try_take(Task::campaign, campaign.id)) {
    const auto who = self_->holder(Task::campaign, campaign.id);
    throw UserError(
        fmt::format("campaign {} of {}, class {}, on this machine is being run by {}", campaign.id,
                    campaign.policy.family, campaign.policy.workload_class, who.value_or("another process")),
        "wait for it to end or stop it; another family or class can run beside it, and another journal with "
        "--journal can hold this one");
  }
}

void Journal::finish_campaign(std::int64_t id, std::uint64_t seed, const std::string& note) {
  self_->database.run("INSERT INTO campaign_end (campaign, seed, note, ended_at) VALUES (?, ?, ?, ?)",
                      {id, seed, note, utc_now()});
}

std::int64_t Journal::begin_iteration(const IterationRow& iteration) {
  Transaction transaction(self_->database);
  const std::int64_t id =
      insert_row(*self_, "iteration", iteration, {{"started_at", time_or_now(iteration.started_at)}});
  transaction.commit();
  return id;
}

void Journal::finish_iteration(std::int64_t id, const std::string& note) {
  self_->database.run("INSERT INTO iteration_end (iteration, note, ended_at) VALUES (?, ?, ?)", {id, note, utc_now()});
}

std::optional<Campaign> Journal::campaign(std::int64_t id) {
  return first_of(read_rows<Campaign>(*self_, "campaign WHERE id = ?", {id}));
}

std::vector<Campaign> Journal::campaigns() {
  return read_rows<Campaign>(*self_, "campaign ORDER BY id");
}

std::optional<Campaign> Journal::open_campaign(const std::string& family, const std::string& workload_class,
                                               const std::string& machine) {
  return first_of(read_rows<Campaign>(
      *self_,
      "campaign WHERE family = ? AND workload_class = ? AND machine IN (SELECT id FROM machine WHERE key = ?)"
      " AND id IN (SELECT id FROM campaigns WHERE state = 'open') ORDER BY id DESC",
      {family, workload_class, machine}));
}

std::vector<IterationRow> Journal::iterations(std::int64_t campaign) {
  return read_rows<IterationRow>(*self_, "iteration WHERE campaign = ? ORDER BY id", {campaign});
}

namespace {

// Innermost first. Iterations are looked for in open campaigns only: none outlives its campaign (invariants.cpp).
constexpr const char* kUnfinished =
    "(SELECT 1 AS place, 'experiment' AS kind, e.id, coalesce(e.campaign, 0) AS campaign,"
    " 'experiment ' || e.id || ': ' || c.label AS what, e.started_at,"
    " (SELECT count(*) FROM round r WHERE r.experiment = e.id) AS rounds"
    " FROM experiment e JOIN configuration c ON c.id = e.candidate WHERE e.id NOT IN (SELECT experiment FROM judgement)"
    " AND NOT EXISTS (SELECT 1 FROM abandonment a WHERE a.experiment = e.id)"
    " UNION ALL SELECT 2, 'iteration', i.id, i.campaign, 'iteration ' || i.idx || ' of campaign ' || i.campaign,"
    " i.started_at, 0 FROM campaigns c JOIN iteration i ON i.campaign = c.id WHERE c.state = 'open'"
    " AND NOT EXISTS (SELECT 1 FROM iteration_end z WHERE z.iteration = i.id)"
    " AND NOT EXISTS (SELECT 1 FROM abandonment a WHERE a.iteration = i.id)"
    " UNION ALL SELECT 3, 'campaign', id, id, 'campaign ' || id || ': ' || family || ' ' || workload_class, started_at,"
    " 0 FROM campaigns WHERE state = 'open') ORDER BY place, id";

}  // namespace

std::vector<Unfinished> Journal::unfinished() {
  return read_rows<Unfinished>(*self_, kUnfinished);
}

}  // namespace apo
