// journal/facts/read_checks.cpp - reads certifications and sentinels back into the records.
#include "journal/implementation.h"

namespace apo {
namespace {

Certification next_certification(Journal::Implementation& self, Statement& row) {
  return {.id = row.integer(),
          .campaign = row.integer(),
          .incumbent = self.configuration(row.integer()),
          .baseline = self.configuration(row.integer()),
          .cache_policy = cache_policy_of(row.text()),
          .effect = row.real(),
          .lower = row.real(),
          .upper = row.real(),
          .rounds = row.small(),
          .claimed_effect = row.real(),
          .alarm = row.boolean(),
          .seconds = row.real(),
          .at = row.text()};
}

std::optional<ClockCoupling> clock_of(Database& database, std::int64_t certification) {
  Statement row = database.query(
      "SELECT missing, coupled, blocks, solo_run_s, confidence, time_effect, time_lower, time_upper, cycle_effect,"
      " clock_effect, clock_lower, clock_upper FROM certification_clock WHERE certification = ?",
      {certification});
  if (!row.step()) {
    return std::nullopt;
  }
  ClockCoupling clock{.missing = row.text()};
  clock.coupled = row.boolean();
  clock.blocks = row.small();
  if (!clock.missing.empty()) {
    return clock;
  }
  for (double* value : {&clock.solo_run_s, &clock.confidence, &clock.time_effect, &clock.time_lower, &clock.time_upper,
                        &clock.cycle_effect, &clock.clock_effect, &clock.clock_lower, &clock.clock_upper}) {
    *value = row.real();
  }
  return clock;
}

std::vector<SentinelRow> sentinels_where(Journal::Implementation& self, const std::string& condition,
                                         const std::vector<Value>& values) {
  std::vector<SentinelRow> result;
  Statement rows = self.database.query(
      "SELECT s.id, coalesce(s.campaign, 0), m.key, s.configuration, s.effect, s.lower, s.upper, s.confidence, s.sd,"
      " s.p_value, s.rounds, s.alarm, s.preset, s.cache_policy, s.rule_version, s.seconds, s.at"
      " FROM sentinel s JOIN machine m ON m.id = s.machine WHERE " +
          condition,
      values);
  while (rows.step()) {
    result.push_back({.id = rows.integer(),
                      .campaign = rows.integer(),
                      .machine = rows.text(),
                      .configuration = self.configuration(rows.integer()),
                      .effect = rows.real(),
                      .lower = rows.real(),
                      .upper = rows.real(),
                      .confidence = rows.real(),
                      .sd = rows.real(),
                      .p_value = rows.real(),
                      .rounds = rows.small(),
                      .alarm = rows.boolean(),
                      .preset = rows.text(),
                      .cache_policy = cache_policy_of(rows.text()),
                      .rule_version = rows.text(),
                      .seconds = rows.real(),
                      .at = rows.text()});
  }
  return result;
}

}  // namespace

std::vector<Certification> Journal::certifications(std::int64_t campaign) {
  std::vector<Certification> result;
  Statement rows = self_->database.query(
      "SELECT id, campaign, incumbent, baseline, cache_policy, effect, lower, upper, rounds, claimed_effect, alarm,"
      " seconds, at FROM certification WHERE campaign = ? ORDER BY id",
      {campaign});
  while (rows.step()) {
    result.push_back(next_certification(*self_, rows));
    result.back().clock = clock_of(self_->database, result.back().id);
  }
  return result;
}

std::set<std::int64_t> Journal::withdrawn(std::int64_t campaign) {
  std::set<std::int64_t> experiments;
  Statement rows = self_->database.query(
      "SELECT w.experiment FROM withdrawn w JOIN experiment e ON e.id = w.experiment WHERE e.campaign = ?", {campaign});
  while (rows.step()) {
    experiments.insert(rows.integer());
  }
  return experiments;
}

std::vector<Experiment> Journal::standing_accepts(std::int64_t campaign) {
  const std::set<std::int64_t> taken_back = withdrawn(campaign);
  std::vector<Experiment> accepts = experiments(campaign, Detail::summary);
  std::erase_if(accepts, [&](const Experiment& experiment) {
    return !experiment.judgement || experiment.judgement->verdict != Verdict::accepted ||
           taken_back.contains(experiment.id);
  });
  return accepts;
}

std::vector<Round> Journal::certification_rounds(std::int64_t certification) {
  return self_->rounds("certification", certification);
}

std::vector<SoloRun> Journal::certification_solo_runs(std::int64_t certification) {
  std::vector<SoloRun> solo_runs;
  Statement rows = self_->database.query(
      "SELECT workload, candidate, seconds, calls, mhz, readings FROM certification_solo_run WHERE certification = ?"
      " ORDER BY position",
      {certification});
  while (rows.step()) {
    solo_runs.push_back({.workload = rows.text(),
                         .candidate = rows.boolean(),
                         .seconds = rows.real(),
                         .calls = rows.real(),
                         .mhz = rows.real(),
                         .readings = rows.small()});
  }
  return solo_runs;
}

std::vector<SentinelRow> Journal::sentinels(std::int64_t campaign) {
  return sentinels_where(*self_, "coalesce(s.campaign, 0) = ? ORDER BY s.id", {campaign});
}

std::vector<Round> Journal::sentinel_rounds(std::int64_t sentinel) {
  return self_->rounds("sentinel", sentinel);
}
}  // namespace apo
