// journal/facts/read_campaigns.cpp - reads campaigns and iterations back into the records.
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

Campaign next_campaign(Journal::Implementation& self, Statement& row) {
  Campaign campaign;
  campaign.id = row.integer();
  campaign.machine = row.text();
  campaign.baseline = self.configuration(row.integer());
  campaign.policy.family = row.text();
  campaign.policy.workload_class = row.text();
  campaign.policy.workloads = decode_list(row.text());
  campaign.policy.baseline = row.text();
  campaign.policy.iterations = row.small();
  campaign.policy.candidates_per_iteration = row.small();
  campaign.policy.budget_s = row.real();
  campaign.policy.cache_policy = cache_policy_of(row.text());
  campaign.policy.judge_preset = row.text();
  campaign.policy.target = row.text() == "cuda" ? Target::cuda : Target::host;
  campaign.started_at = row.text();
  const std::string state = row.text();
  campaign.state = known(campaign_state_from(state), state);
  campaign.policy.seed = row.seed();
  campaign.policy.layout = layout_from(row.text());
  return campaign;
}

std::vector<Campaign> campaigns_where(Journal::Implementation& self, const std::string& condition,
                                      const std::vector<Value>& values) {
  std::vector<Campaign> result;
  Statement rows = self.database.query(
      "SELECT c.id, m.key, c.baseline, c.family, c.workload_class, c.workloads, c.policy_baseline, c.iterations,"
      " c.candidates_per_iteration, c.budget_s, c.cache_policy, c.preset, c.target, c.started_at,"
      " CASE WHEN z.campaign IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'open' END AS "
      "state,"
      " coalesce(z.seed, 0), c.layout FROM campaign c JOIN machine m ON m.id = c.machine"
      " LEFT JOIN campaign_end z ON z.campaign = c.id LEFT JOIN abandonment a ON a.campaign = c.id" +
          condition + " ORDER BY c.id",
      values);
  while (rows.step()) {
    result.push_back(next_campaign(self, rows));
  }
  return result;
}

}  // namespace

std::optional<Campaign> Journal::campaign(std::int64_t id) {
  std::vector<Campaign> found = campaigns_where(*self_, " WHERE c.id = ?", {id});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
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
      "SELECT i.id, i.campaign, i.idx, i.incumbent, i.started_at, z.ended_at, z.note FROM iteration i"
      " LEFT JOIN iteration_end z ON z.iteration = i.id WHERE i.campaign = ? ORDER BY i.id",
      {campaign});
  while (rows.step()) {
    result.push_back({rows.integer(), rows.integer(), rows.small(), self_->configuration(rows.integer()), rows.text(),
                      rows.text(), rows.text()});
  }
  return result;
}

}  // namespace apo
