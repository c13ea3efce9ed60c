// journal/facts/read_campaigns.cpp - reads campaigns and iterations back into the records.
#include "journal/columns.h"

namespace apo {
namespace {

std::vector<Campaign> campaigns_where(Journal::Implementation& self, const std::string& condition,
                                      const std::vector<Value>& values) {
  std::vector<Campaign> result;
  Statement rows = self.database.query(
      "SELECT c.id, m.key, coalesce(z.seed, 0),"
      " CASE WHEN z.campaign IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'open' END AS "
      "state, " +
          columns_of<Campaign>("c.") +
          " FROM campaign c JOIN machine m ON m.id = c.machine"
          " LEFT JOIN campaign_end z ON z.campaign = c.id LEFT JOIN abandonment a ON a.campaign = c.id" +
          condition + " ORDER BY c.id",
      values);
  while (rows.step()) {
    Campaign& campaign = result.emplace_back();
    campaign.id = rows.integer();
    campaign.machine = rows.text();
    campaign.policy.seed = rows.seed();
    read_column(self, rows, campaign.state);
    read_row(self, rows, campaign);
  }
  return result;
}

}  // namespace

std::optional<Campaign> Journal::campaign(std::int64_t id) {
  std::vector<Campaign> found = campaigns_where(*self_, " WHERE c.id = ?", {id});
  return first_of(std::move(found));
}

std::optional<CampaignEnd> Journal::campaign_end(std::int64_t id) {
  Statement row = self_->database.query(
      "SELECT ended_at, note FROM campaign_end WHERE campaign = ?"
      " UNION ALL SELECT at, why FROM abandonment WHERE campaign = ?",
      {id, id});
  return row.step() ? std::optional(CampaignEnd{row.text(), row.text()}) : std::nullopt;
}

std::vector<Campaign> Journal::campaigns() {
  return campaigns_where(*self_, "", {});
}

std::vector<Campaign> Journal::open_campaigns() {
  return campaigns_where(*self_, " WHERE z.campaign IS NULL AND a.id IS NULL", {});
}

std::optional<Campaign> Journal::open_campaign(const std::string& family, const std::string& workload_class,
                                               const std::string& machine) {
  std::vector<Campaign> found = campaigns_where(
      *self_, " WHERE c.family = ? AND c.workload_class = ? AND m.key = ? AND z.campaign IS NULL AND a.id IS NULL",
      {family, workload_class, machine});
  return found.empty() ? std::nullopt : std::optional(std::move(found.back()));
}

std::vector<IterationRow> Journal::iterations(std::int64_t campaign) {
  std::vector<IterationRow> result;
  Statement rows = self_->database.query(
      "SELECT i.id, z.ended_at, z.note, " + columns_of<IterationRow>("i.") +
          " FROM iteration i LEFT JOIN iteration_end z ON z.iteration = i.id WHERE i.campaign = ? ORDER BY i.id",
      {campaign});
  while (rows.step()) {
    IterationRow& iteration = result.emplace_back();
    iteration.id = rows.integer();
    iteration.ended_at = rows.text();
    iteration.note = rows.text();
    read_row(*self_, rows, iteration);
  }
  return result;
}

}  // namespace apo
