// journal/facts/mistakes.cpp - which code was proven wrong, and at which call.
#include "journal/facts/mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/sources.h"
#include "journal/columns.h"

namespace apo {

std::optional<std::int64_t> oldest_proof_of_wrong(Journal& journal, const Experiment& candidate) {
  // The machine code of a workload says nothing of the shapes that the gates before the timing were wrong on.
  static const std::string query = fmt::format(
      "WITH contract AS (SELECT source_hash, file FROM variant_file WHERE name = '{}'),"
      " like_it AS ("
      "SELECT e.id FROM experiment e JOIN configuration c ON c.id = e.candidate"
      " WHERE e.family = ?1 AND e.candidate_source = ?2 AND c.settings = ?3"
      " UNION SELECT e.id FROM build b JOIN experiment e ON e.id = b.experiment"
      " WHERE b.code_hash = ?4 AND b.role = 'candidate' AND e.family = ?1"
      " AND (SELECT group_concat(workload) FROM experiment_workload w WHERE w.experiment = e.id) = ?5"
      " AND (SELECT file FROM contract WHERE source_hash = e.candidate_source) IS"
      " (SELECT file FROM contract WHERE source_hash = ?2)"
      " AND EXISTS (SELECT 1 FROM gate g WHERE g.experiment = e.id AND g.gate IN ('timing', 'regimes')"
      " AND g.outcome = 'incorrect'))"
      " SELECT min(j.experiment) FROM like_it JOIN judgement j ON j.experiment = like_it.id"
      // An undecided one may have failed by its incumbent.
      " WHERE j.outcome = 'incorrect' AND j.verdict = 'reverted'",
      kContractName);
  const Build& build = candidate.candidate_build;
  const bool has_code = !build.code_hash.empty() && candidate.workloads.size() == 1;
  const std::int64_t found = database_of(journal).number(
      query, {candidate.family, candidate.candidate_source_hash, encode(candidate.candidate.settings),
              has_code ? Value(build.code_hash) : Value(nullptr), has_code ? candidate.workloads.front() : ""});
  return found != 0 ? std::optional(found) : std::nullopt;
}

APO_COLUMNS_AS(KnownCase, "experiment, workload, axes, regime, seed", experiment, where.workload, where.axes,
               where.regime, where.seed)

std::vector<KnownCase> wrong_cases(Journal& journal, const std::string& family,
                                   const std::optional<std::int64_t>& experiment) {
  const std::int64_t own = experiment.value_or(0);
  std::vector<KnownCase> cases = read_rows<KnownCase>(journal, "wrong_case WHERE experiment = ?", {own});
  std::ranges::move(read_rows<KnownCase>(journal,
                                         "wrong_case WHERE experiment = (SELECT max(w.experiment) FROM wrong_case w"
                                         " JOIN experiment e ON e.id = w.experiment WHERE e.family = ? AND e.id <> ?)",
                                         {family, own}),
                    std::back_inserter(cases));
  return cases;
}

}  // namespace apo
