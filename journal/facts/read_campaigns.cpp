// journal/facts/read_campaigns.cpp - reads campaigns, iterations and incumbents back into the records.
#include <map>
#include <tuple>

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
      " c.candidates_per_iteration, c.budget_s, c.cache_policy, c.judge_profile, c.target, c.started_at,"
      " CASE WHEN z.campaign IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'open' END AS "
      "state,"
      " coalesce(z.seed, 0), y.layout FROM campaign c JOIN machine m ON m.id = c.machine"
      " LEFT JOIN campaign_end z ON z.campaign = c.id LEFT JOIN abandonment a ON a.campaign = c.id"
      " LEFT JOIN campaign_layout y ON y.campaign = c.id" +
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

// As the view `incumbents` says it, without putting every acceptance and every campaign in order: the newest of each is
// looked up. The condition is one on family, workload class and machine key.
std::vector<Incumbent> Journal::Implementation::incumbents(const std::string& of_scope,
                                                           const std::vector<Value>& scope) {
  std::vector<Value> twice = scope;
  twice.insert(twice.end(), scope.begin(), scope.end());
  Statement rows = database.query(
      "SELECT e.family, e.workload_class, m.key, e.candidate, e.candidate_source, e.id, e.campaign, j.finished_at"
      " FROM (SELECT max((SELECT b.experiment FROM facet_member b JOIN experiment e ON e.id = b.experiment"
      " WHERE b.facet = s.id AND e.campaign IS NOT NULL"
      " AND (e.campaign NOT IN (SELECT campaign FROM certification WHERE alarm = 1)"
      " OR e.id NOT IN (SELECT experiment FROM withdrawn)) ORDER BY b.experiment DESC LIMIT 1)) AS id"
      " FROM facet s JOIN machine m ON m.id = s.machine WHERE s.verdict = 'accepted'" +
          of_scope +
          " GROUP BY s.family, s.workload_class, m.key) newest"
          " JOIN experiment e ON e.id = newest.id JOIN judgement j ON j.experiment = e.id"
          " JOIN machine m ON m.id = e.machine"
          " UNION ALL SELECT c.family, c.workload_class, m.key, c.baseline, coalesce(c.baseline_source, ''), 0, c.id,"
          " c.started_at FROM (SELECT max(s.id) AS id FROM campaign s JOIN machine m ON m.id = s.machine WHERE 1" +
          of_scope +
          " GROUP BY s.family, s.workload_class, m.key) newest"
          " JOIN campaign c ON c.id = newest.id JOIN machine m ON m.id = c.machine",
      twice);
  std::map<std::tuple<std::string, std::string, std::string>, Incumbent> found;
  while (rows.step()) {  // the accepted come first
    Incumbent one{rows.text(), rows.text(),    rows.text(),    configuration(rows.integer()),
                  rows.text(), rows.integer(), rows.integer(), rows.text()};
    found.try_emplace({one.family, one.workload_class, one.machine}, one);
  }
  std::vector<Incumbent> result;
  for (auto& [key, incumbent] : found) {
    result.push_back(std::move(incumbent));
  }
  return result;
}

std::optional<Incumbent> Journal::incumbent(const std::string& family, const std::string& workload_class,
                                            const std::string& machine) {
  std::vector<Incumbent> found =
      self_->incumbents(" AND s.family = ? AND s.workload_class = ? AND m.key = ?", {family, workload_class, machine});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<Incumbent> Journal::incumbents() {
  return self_->incumbents("", {});
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
