// journal/facts/incumbents.cpp - reads what was accepted last: in a class, and on each of its workloads.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "journal/implementation.h"

namespace apo {

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
  const std::string peers = self_->peers(machine);
  std::vector<Incumbent> found =
      self_->incumbents(" AND s.family = ? AND s.workload_class = ? AND m.key IN (SELECT value FROM json_each(?))",
                        {family, workload_class, peers});
  if (found.empty()) {
    return std::nullopt;
  }
  // What was accepted last on any of them, else the baseline of here.
  Incumbent newest = *std::ranges::max_element(
      found, {}, [&](const Incumbent& one) { return std::pair(one.experiment, one.machine == machine); });
  newest.machine = machine;
  return newest;
}

std::vector<Incumbent> Journal::incumbents() {
  return self_->incumbents("", {});
}

namespace {

// A candidate on one workload of a campaign: accepted, or slower than the incumbent.
struct Decision {
  std::int64_t experiment = 0;
  std::int64_t campaign = 0;
  bool accepted = false;
  std::int64_t candidate = 0;  // configurations
  std::string candidate_source;
  std::int64_t incumbent = 0;
  std::string incumbent_source;
  std::string at;
  std::string workload;

  std::pair<std::int64_t, std::string> loser() const { return {candidate, candidate_source}; }
  std::pair<std::int64_t, std::string> winner() const {
    return accepted ? loser() : std::pair(incumbent, incumbent_source);
  }
};

std::vector<Decision> decisions(Database& database, const std::string& family, const std::string& workload_class,
                                const std::string& machines) {
  std::vector<Decision> result;
  Statement rows = database.query(
      "SELECT e.id, e.campaign, s.verdict = 'accepted', e.candidate, e.candidate_source, e.incumbent,"
      " e.incumbent_source, j.finished_at, w.workload FROM facet s JOIN machine m ON m.id = s.machine"
      " JOIN facet_member b ON b.facet = s.id JOIN experiment e ON e.id = b.experiment"
      " JOIN judgement j ON j.experiment = e.id JOIN experiment_workload w ON w.experiment = e.id"
      " WHERE s.family = ? AND s.workload_class = ? AND m.key IN (SELECT value FROM json_each(?)) AND (s.verdict = "
      "'accepted' OR s.reason = "
      "'regression')"
      " AND e.campaign IS NOT NULL AND e.id NOT IN (SELECT experiment FROM withdrawn) ORDER BY e.id, w.position",
      {family, workload_class, machines});
  while (rows.step()) {
    result.push_back({rows.integer(), rows.integer(), rows.boolean(), rows.integer(), rows.text(), rows.integer(),
                      rows.text(), rows.text(), rows.text()});
  }
  return result;
}

// A loss says something where the loser is the answer: of this workload, or of another one while this one has none.
std::map<std::string, Decision> last_decisions(const std::vector<Decision>& all) {
  std::set<std::pair<std::int64_t, std::string>> accepted;
  for (const Decision& one : all) {
    if (one.accepted) {
      accepted.insert(one.winner());
    }
  }
  std::map<std::string, Decision> last;
  for (const Decision& one : all) {
    const auto found = last.find(one.workload);
    const bool decides =
        one.accepted || (found == last.end() ? accepted.contains(one.loser()) : found->second.winner() == one.loser());
    if (decides) {
      last[one.workload] = one;
    }
  }
  return last;
}

}  // namespace

std::vector<WorkloadIncumbent> Journal::workload_incumbents(const std::string& family,
                                                            const std::string& workload_class,
                                                            const std::string& machine) {
  std::vector<WorkloadIncumbent> result;
  for (const auto& [workload, decision] :
       last_decisions(decisions(self_->database, family, workload_class, self_->peers(machine)))) {
    const auto& [configuration, source] = decision.winner();
    result.push_back({.workload = workload,
                      .incumbent = {family, workload_class, machine, self_->configuration(configuration), source,
                                    decision.experiment, decision.campaign, decision.at},
                      .stood = !decision.accepted});
  }
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [](const WorkloadIncumbent& one) { return one.incumbent.experiment; });
  return result;
}

}  // namespace apo
