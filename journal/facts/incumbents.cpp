// journal/facts/incumbents.cpp - reads what was accepted last: in a class, and on each of its workloads.
#include "journal/facts/incumbents.h"

#include <algorithm>
#include <map>
#include <set>

#include "journal/columns.h"

namespace apo {

APO_COLUMNS_AS(Incumbent, "family, workload_class, machine_id, configuration, source_hash, experiment, campaign, since",
               family, workload_class, machine, configuration, source_hash, experiment, campaign, since)

std::optional<Incumbent> find_incumbent(Journal& journal, const std::string& family, const std::string& workload_class,
                                        const std::string& machine) {
  const std::vector<Incumbent> found = read_rows<Incumbent>(
      journal,
      "incumbents WHERE family = ? AND workload_class = ? AND machine_id IN (SELECT value FROM json_each(?))"
      " ORDER BY machine_id",
      {family, workload_class, peers_of(journal, machine)});
  if (found.empty()) {
    return std::nullopt;
  }
  // What was accepted last on any of them, else the baseline of here.
  Incumbent newest = *std::ranges::max_element(
      found, {}, [&](const Incumbent& one) { return std::pair(one.experiment, one.machine == machine); });
  newest.machine = machine;
  return newest;
}

std::vector<Incumbent> all_incumbents(Journal& journal) {
  return read_rows<Incumbent>(journal, "incumbents ORDER BY family, workload_class, machine_id");
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
      "SELECT e.id, e.campaign, j.verdict = 'accepted', e.candidate, e.candidate_source, e.incumbent,"
      " e.incumbent_source, j.finished_at, w.workload FROM experiment e JOIN judgement j ON j.experiment = e.id"
      " JOIN machine m ON m.id = e.machine JOIN experiment_workload w ON w.experiment = e.id"
      " WHERE e.family = ? AND e.workload_class = ? AND m.key IN (SELECT value FROM json_each(?))"
      " AND (j.verdict = 'accepted' OR j.reason = 'regression') AND e.campaign IS NOT NULL"
      " AND e.id NOT IN (SELECT experiment FROM withdrawn) ORDER BY e.id, w.position",
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

std::vector<WorkloadIncumbent> workload_incumbents(Journal& journal, const std::string& family,
                                                   const std::string& workload_class, const std::string& machine) {
  std::vector<WorkloadIncumbent> result;
  for (const auto& [workload, decision] :
       last_decisions(decisions(database_of(journal), family, workload_class, peers_of(journal, machine)))) {
    const auto& [configuration, source] = decision.winner();
    result.push_back({.workload = workload,
                      .incumbent = {family, workload_class, machine, load_configuration(journal, configuration), source,
                                    decision.experiment, decision.campaign, decision.at},
                      .stood = !decision.accepted});
  }
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [](const WorkloadIncumbent& one) { return one.incumbent.experiment; });
  return result;
}

}  // namespace apo
