// journal/facts/checks.cpp - writes and reads certifications and sentinels, and finds what was proven wrong.
#include "journal/facts/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "harness/core/sources.h"
#include "journal/columns.h"
#include "journal/facts/experiments.h"

namespace apo {

APO_COLUMNS_AS(SentinelRow,
               "id, (SELECT key FROM machine WHERE machine.id = sentinel.machine), campaign, configuration, effect,"
               " lower, upper, confidence, sd, p_value, rounds, alarm, preset, cache_policy, rule_version, seconds, at",
               id, machine, campaign, configuration, effect, lower, upper, confidence, sd, p_value, rounds, alarm,
               preset, cache_policy, rule_version, seconds, at)

namespace {

// Without its numbers where the clock could not be read.
void insert_clock(Journal& journal, std::int64_t certification, ClockCoupling clock) {
  if (!clock.missing.empty()) {
    for (double* number :
         {&clock.solo_run_s, &clock.confidence, &clock.time_effect, &clock.time_lower, &clock.time_upper,
          &clock.cycle_effect, &clock.clock_effect, &clock.clock_lower, &clock.clock_upper}) {
      *number = std::numeric_limits<double>::quiet_NaN();
    }
  }
  insert_row(journal, "certification_clock", clock, {{"certification", certification}});
}

}  // namespace

std::int64_t add_certification(Journal& journal, const Certification& certification, const std::vector<Round>& rounds,
                               const std::vector<SoloRun>& solo_runs) {
  Transaction transaction(database_of(journal));
  const std::int64_t newest =
      database_of(journal).number("SELECT max(id) FROM experiment WHERE campaign = ?", {certification.campaign});
  const std::int64_t id = insert_row(journal, "certification", certification,
                                     {{"after_experiment", newest}, {"at", time_or_now(certification.at)}});
  for (const Round& round : rounds) {
    add_round_of(journal, "certification", id, round);
  }
  if (certification.clock) {
    insert_clock(journal, id, *certification.clock);
    insert_rows(journal, "certification_solo_run", solo_runs, {{"certification", id}});
  }
  transaction.commit();
  return id;
}

std::int64_t add_sentinel(Journal& journal, const SentinelRow& sentinel, const std::vector<Round>& rounds) {
  Transaction transaction(database_of(journal));
  const std::int64_t id = insert_row(journal, "sentinel", sentinel,
                                     {{"campaign", Value::reference(sentinel.campaign)},
                                      {"machine", machine_row(journal, sentinel.machine)},
                                      {"at", time_or_now(sentinel.at)}});
  for (const Round& round : rounds) {
    add_round_of(journal, "sentinel", id, round);
  }
  transaction.commit();
  return id;
}

std::vector<Certification> certifications_of(Journal& journal, std::int64_t campaign) {
  auto result = read_rows<Certification>(journal, "certification WHERE campaign = ? ORDER BY id", {campaign});
  for (Certification& certification : result) {
    certification.clock =
        first_of(read_rows<ClockCoupling>(journal, "certification_clock WHERE certification = ?", {certification.id}));
  }
  return result;
}

std::set<std::int64_t> withdrawn_accepts(Journal& journal, std::int64_t campaign) {
  const std::vector<std::int64_t> experiments = database_of(journal).integers(
      "SELECT w.experiment FROM withdrawn w JOIN experiment e ON e.id = w.experiment WHERE e.campaign = ?", {campaign});
  return {experiments.begin(), experiments.end()};
}

std::vector<Experiment> standing_accepts(Journal& journal, std::int64_t campaign) {
  const std::set<std::int64_t> taken_back = withdrawn_accepts(journal, campaign);
  std::vector<Experiment> accepts = experiments_of(journal, campaign, Detail::summary);
  std::erase_if(accepts, [&](const Experiment& experiment) {
    return !experiment.judgement || experiment.judgement->verdict != Verdict::accepted ||
           taken_back.contains(experiment.id);
  });
  return accepts;
}

std::vector<SentinelRow> sentinels_of(Journal& journal, std::int64_t campaign) {
  return read_rows<SentinelRow>(journal, "sentinel WHERE coalesce(campaign, 0) = ? ORDER BY id", {campaign});
}

std::vector<Round> sentinel_rounds(Journal& journal, std::int64_t sentinel) {
  return rounds_of(journal, "sentinel", sentinel);
}

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
