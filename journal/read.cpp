// journal/read.cpp - rows back into the records that they were written from.
#include <map>
#include <stdexcept>
#include <tuple>

#include "harness/core/error.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

template <class Enum>
Enum known(std::optional<Enum> value, const std::string& word) {
  if (!value) {
    throw UserError("the journal holds the word '" + word + "', which this apo does not know", "update apo");
  }
  return *value;
}

Outcome outcome_of(const std::string& word) {
  return known(outcome_from(word), word);
}
Verdict verdict_of(const std::string& word) {
  return known(verdict_from(word), word);
}
Reason reason_of(const std::string& word) {
  return known(reason_from(word), word);
}

std::vector<std::string> texts(Database& database, std::string_view sql, std::int64_t owner) {
  std::vector<std::string> result;
  Statement rows = database.query(sql, {owner});
  while (rows.step()) {
    result.push_back(rows.text());
  }
  return result;
}

Build load_build(Journal::Implementation& self, std::int64_t experiment, std::string_view role) {
  Build build;
  Statement row = self.database.query(
      "SELECT key, outcome, object_path, object_hash, code_hash, flags, compiler, version, log, seconds, from_cache"
      " FROM build b JOIN toolchain t ON t.id = b.toolchain WHERE experiment = ? AND role = ?",
      {experiment, role});
  if (!row.step()) {
    return build;
  }
  build.key = row.text();
  build.outcome = outcome_of(row.text());
  build.object_path = row.text();
  build.object_hash = row.text();
  build.code_hash = row.text();
  build.flags = decode_list(row.text());
  build.toolchain.compiler = row.text();
  build.toolchain.version = row.text();
  build.log = self.blob(row.text());
  build.seconds = row.real();
  build.from_cache = row.boolean();
  Statement resources = self.database.query("SELECT name, value FROM build_resource WHERE experiment = ? AND role = ?",
                                            {experiment, role});
  while (resources.step()) {
    const std::string name = resources.text();
    build.resources[name] = resources.integer();
  }
  return build;
}

std::optional<Judgement> load_judgement(Database& database, Experiment& experiment) {
  Statement row = database.query(
      "SELECT outcome, finished_at, verdict, reason, sentence, effect, lower, upper, confidence, rounds, processes,"
      " samples, seconds, search_effect, alpha, minimum_detectable, incumbent_ns, candidate_ns, profile, cache_policy,"
      " rule_version, minimum_claim FROM judgement WHERE experiment = ?",
      {experiment.id});
  if (!row.step()) {
    return std::nullopt;
  }
  experiment.outcome = outcome_of(row.text());
  experiment.finished_at = row.text();
  return Judgement{.verdict = verdict_of(row.text()),
                   .reason = reason_of(row.text()),
                   .sentence = row.text(),
                   .effect = row.real(),
                   .lower = row.real(),
                   .upper = row.real(),
                   .confidence = row.real(),
                   .rounds = row.small(),
                   .processes = row.small(),
                   .samples = row.small(),
                   .seconds = row.real(),
                   .search_effect = row.real(),
                   .alpha = row.real(),
                   .minimum_detectable = row.real(),
                   .incumbent_ns = row.real(),
                   .candidate_ns = row.real(),
                   .profile = row.text(),
                   .cache_policy = row.text(),
                   .rule_version = row.text(),
                   .minimum_claim = row.real()};
}

std::vector<RoundWorkload> load_workloads(Database& database, std::int64_t round) {
  std::vector<RoundWorkload> workloads;
  Statement rows = database.query(
      "SELECT workload, repetitions, effect, incumbent_p90_ns, candidate_p90_ns, incumbent_median_ns,"
      " candidate_median_ns, samples FROM round_workload WHERE round = ? ORDER BY position",
      {round});
  while (rows.step()) {
    RoundWorkload workload;
    workload.workload = rows.text();
    workload.repetitions = rows.small();
    workload.effect = rows.real();
    workload.incumbent_p90_ns = rows.real();
    workload.candidate_p90_ns = rows.real();
    workload.incumbent_median_ns = rows.real();
    workload.candidate_median_ns = rows.real();
    decode_samples(rows.text(), workload.warmup, workload.blocks);
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

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
  campaign.policy.cache_policy = row.text();
  campaign.policy.judge_profile = row.text();
  campaign.policy.target = row.text() == "cuda" ? Target::cuda : Target::host;
  campaign.started_at = row.text();
  campaign.state = row.text();
  campaign.policy.seed = row.seed();
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
      " coalesce(z.seed, 0) FROM campaign c JOIN machine m ON m.id = c.machine"
      " LEFT JOIN campaign_end z ON z.campaign = c.id LEFT JOIN abandonment a ON a.campaign = c.id" +
          condition + " ORDER BY c.id",
      values);
  while (rows.step()) {
    result.push_back(next_campaign(self, rows));
  }
  return result;
}

Certification next_certification(Journal::Implementation& self, Statement& row) {
  return {.id = row.integer(),
          .campaign = row.integer(),
          .champion = self.configuration(row.integer()),
          .baseline = self.configuration(row.integer()),
          .cache_policy = row.text(),
          .effect = row.real(),
          .lower = row.real(),
          .upper = row.real(),
          .rounds = row.small(),
          .claimed_effect = row.real(),
          .alarm = row.boolean(),
          .seconds = row.real(),
          .at = row.text()};
}

std::vector<SentinelRow> sentinels_where(Journal::Implementation& self, const std::string& condition,
                                         const std::vector<Value>& values) {
  std::vector<SentinelRow> result;
  Statement rows = self.database.query(
      "SELECT s.id, coalesce(s.campaign, 0), m.key, s.configuration, s.effect, s.lower, s.upper, s.confidence, s.sd,"
      " s.p_value, s.rounds, s.alarm, s.profile, s.cache_policy, s.rule_version, s.seconds, s.at"
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
                      .profile = rows.text(),
                      .cache_policy = rows.text(),
                      .rule_version = rows.text(),
                      .seconds = rows.real(),
                      .at = rows.text()});
  }
  return result;
}

}  // namespace

// ---------------------------------------------------------------- campaigns and iterations

std::optional<Campaign> Journal::campaign(std::int64_t id) {
  std::vector<Campaign> found = campaigns_where(*self_, " WHERE c.id = ?", {id});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<Campaign> Journal::campaigns() {
  return campaigns_where(*self_, "", {});
}

std::optional<Campaign> Journal::open_campaign(const std::string& family, const std::string& workload_class,
                                               const std::string& machine) {
  std::vector<Campaign> found = campaigns_where(
      *self_, " WHERE c.family = ? AND c.workload_class = ? AND m.key = ? AND z.campaign IS NULL AND a.id IS NULL",
      {family, workload_class, machine});
  return found.empty() ? std::nullopt : std::optional(std::move(found.back()));
}

std::vector<Incumbent> Journal::Implementation::incumbents(std::string_view condition,
                                                           const std::vector<Value>& values) {
  std::vector<Incumbent> result;
  Statement rows = database.query(
      "SELECT family, workload_class, machine_id, configuration, coalesce(source_hash, ''), coalesce(experiment, 0),"
      " campaign, since FROM incumbents" +
          std::string(condition) + " ORDER BY family, workload_class, machine_id",
      values);
  while (rows.step()) {
    result.push_back({rows.text(), rows.text(), rows.text(), configuration(rows.integer()), rows.text(), rows.integer(),
                      rows.integer(), rows.text()});
  }
  return result;
}

std::optional<Incumbent> Journal::incumbent(const std::string& family, const std::string& workload_class,
                                            const std::string& machine) {
  std::vector<Incumbent> found = self_->incumbents(" WHERE family = ? AND workload_class = ? AND machine_id = ?",
                                                   {family, workload_class, machine});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// As the view says it, without putting every acceptance and every campaign in order: the newest of each is looked up.
std::vector<Incumbent> Journal::incumbents() {
  Statement rows = self_->database.query(
      "SELECT e.family, e.workload_class, m.key, e.candidate, e.candidate_source, e.id, e.campaign, j.finished_at"
      " FROM (SELECT max(e.id) AS id FROM judgement j CROSS JOIN experiment e ON e.id = j.experiment"
      " JOIN machine m ON m.id = e.machine WHERE j.verdict = 'accepted' AND e.campaign IS NOT NULL"
      " AND (e.campaign NOT IN (SELECT campaign FROM certification WHERE alarm = 1)"
      " OR e.id NOT IN (SELECT experiment FROM withdrawn)) GROUP BY e.family, e.workload_class, m.key) newest"
      " JOIN experiment e ON e.id = newest.id JOIN judgement j ON j.experiment = e.id JOIN machine m ON m.id = "
      "e.machine"
      " UNION ALL SELECT c.family, c.workload_class, m.key, c.baseline, coalesce(c.baseline_source, ''), 0, c.id,"
      " c.started_at FROM (SELECT max(c.id) AS id FROM campaign c JOIN machine m ON m.id = c.machine"
      " GROUP BY c.family, c.workload_class, m.key) newest"
      " JOIN campaign c ON c.id = newest.id JOIN machine m ON m.id = c.machine");
  std::map<std::tuple<std::string, std::string, std::string>, Incumbent> found;
  while (rows.step()) {  // the accepted come first
    Incumbent one{rows.text(), rows.text(),    rows.text(),    self_->configuration(rows.integer()),
                  rows.text(), rows.integer(), rows.integer(), rows.text()};
    found.try_emplace({one.family, one.workload_class, one.machine}, one);
  }
  std::vector<Incumbent> result;
  for (auto& [key, incumbent] : found) {
    result.push_back(std::move(incumbent));
  }
  return result;
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

// ---------------------------------------------------------------- experiments

std::vector<Round> Journal::Implementation::rounds(std::string_view owner_column, std::int64_t owner) {
  std::vector<Round> result;
  Statement rows = database.query(
      "SELECT id, stage, idx, seed, candidate_in_slot0, effect, void_why, seconds, environment FROM round WHERE " +
          std::string(owner_column) + " = ? ORDER BY id",
      {owner});
  while (rows.step()) {
    Round round;
    const std::int64_t id = rows.integer();
    round.stage = rows.text();
    round.index = rows.small();
    round.seed = rows.seed();
    round.candidate_in_slot0 = rows.boolean();
    round.effect = rows.real();
    round.void_why = rows.text();
    round.seconds = rows.real();
    round.environment = decode_numbers(rows.text());
    round.workloads = load_workloads(database, id);
    result.push_back(std::move(round));
  }
  return result;
}

Experiment Journal::load_experiment(std::int64_t id, Detail detail) {
  Statement row = self_->database.query(
      "SELECT coalesce(campaign, 0), coalesce(iteration, 0), idx, family, workload_class, m.key, candidate, incumbent,"
      " candidate_source, incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because, "
      "started_at"
      " FROM experiment e JOIN machine m ON m.id = e.machine WHERE e.id = ?",
      {id});
  if (!row.step()) {
    Statement last = self_->database.query("SELECT max(id) FROM experiment");
    last.step();
    const std::int64_t newest = last.integer();
    throw UserError(
        "there is no experiment " + std::to_string(id) + " in '" + self_->path.string() + "'",
        newest == 0 ? "it holds none yet" : "it holds 1 to " + std::to_string(newest) + "; 'apo query' lists them");
  }
  Experiment experiment;
  experiment.id = id;
  experiment.campaign = row.integer();
  experiment.iteration = row.integer();
  experiment.index = row.small();
  experiment.family = row.text();
  experiment.workload_class = row.text();
  experiment.machine = row.text();
  experiment.candidate = self_->configuration(row.integer());
  experiment.incumbent = self_->configuration(row.integer());
  experiment.candidate_source_hash = row.text();
  experiment.incumbent_source_hash = row.text();
  experiment.prediction = {row.real(), row.real(), row.text(), row.text()};
  experiment.started_at = row.text();
  Database& database = self_->database;
  experiment.workloads =
      texts(database, "SELECT workload FROM experiment_workload WHERE experiment = ? ORDER BY position", id);
  experiment.techniques =
      texts(database, "SELECT technique FROM experiment_technique WHERE experiment = ? ORDER BY position", id);
  experiment.candidate_build = load_build(*self_, id, "candidate");
  experiment.incumbent_build = load_build(*self_, id, "incumbent");
  Statement gates =
      database.query("SELECT gate, outcome, evidence, seconds FROM gate WHERE experiment = ? ORDER BY position", {id});
  while (gates.step()) {
    experiment.gates.push_back({gates.text(), outcome_of(gates.text()), gates.text(), gates.real()});
  }
  if (detail == Detail::rounds) {
    experiment.rounds = self_->rounds("experiment", id);
  }
  experiment.judgement = load_judgement(database, experiment);
  return experiment;
}

std::vector<Experiment> Journal::experiments(std::int64_t campaign, Detail detail) {
  std::vector<Experiment> result;
  Statement ids = self_->database.query("SELECT id FROM experiment WHERE campaign = ? ORDER BY id", {campaign});
  while (ids.step()) {
    result.push_back(load_experiment(ids.integer(), detail));
  }
  return result;
}

// Only what is asked for stands in the SQL, so that SQLite can start at an index.
std::vector<Lesson> Journal::lessons(const LessonFilter& filter) {
  std::string conditions = " WHERE 1";
  std::vector<Value> values;
  const auto add = [&](bool asked, const char* condition, const Value& value) {
    if (asked) {
      conditions += condition;
      values.push_back(value);
    }
  };
  add(!filter.family.empty(), " AND l.family = ?", filter.family);
  add(!filter.workload_class.empty(), " AND l.workload_class = ?", filter.workload_class);
  add(!filter.machine.empty(), " AND l.machine = ?", filter.machine);
  add(!filter.variant.empty(), " AND l.configuration IN (SELECT id FROM configuration WHERE variant = ?)",
      filter.variant);
  add(!filter.technique.empty(), " AND ? IN (SELECT value FROM json_each(l.techniques))", filter.technique);
  add(filter.verdict.has_value(), " AND l.verdict = ?",
      filter.verdict ? to_string(*filter.verdict) : std::string_view());
  add(filter.experiment != 0, " AND l.experiment = ?", filter.experiment);
  add(filter.campaign != 0, " AND l.experiment IN (SELECT id FROM experiment WHERE campaign = ?)", filter.campaign);
  std::vector<Lesson> result;
  Statement rows = self_->database.query(
      "SELECT l.id, coalesce(l.experiment, 0), l.family, l.workload_class, l.machine, l.configuration, l.source_hash,"
      " l.incumbent, l.incumbent_source, l.techniques, l.verdict, l.speedup, l.text FROM lesson l" +
          conditions + " ORDER BY l.id",
      values);
  while (rows.step()) {
    Lesson lesson;
    lesson.id = rows.integer();
    lesson.experiment = rows.integer();
    lesson.family = rows.text();
    lesson.workload_class = rows.text();
    lesson.machine = rows.text();
    lesson.configuration = self_->configuration(rows.integer());
    lesson.source_hash = rows.text();
    lesson.incumbent = self_->configuration(rows.integer());
    lesson.incumbent_source_hash = rows.text();
    lesson.techniques = decode_list(rows.text());
    lesson.verdict = verdict_of(rows.text());
    lesson.speedup = rows.real();
    lesson.text = rows.text();
    result.push_back(std::move(lesson));
  }
  return result;
}

// ---------------------------------------------------------------- certifications and sentinels

std::vector<Certification> Journal::certifications(std::int64_t campaign) {
  std::vector<Certification> result;
  Statement rows = self_->database.query(
      "SELECT id, campaign, champion, baseline, cache_policy, effect, lower, upper, rounds, claimed_effect, alarm,"
      " seconds, at FROM certification WHERE campaign = ? ORDER BY id",
      {campaign});
  while (rows.step()) {
    result.push_back(next_certification(*self_, rows));
  }
  return result;
}

std::optional<Certification> Journal::latest_certification(std::int64_t campaign) {
  std::vector<Certification> all = certifications(campaign);
  return all.empty() ? std::nullopt : std::optional(std::move(all.back()));
}

std::vector<Round> Journal::certification_rounds(std::int64_t certification) {
  return self_->rounds("certification", certification);
}

std::vector<SentinelRow> Journal::sentinels(std::int64_t campaign) {
  return sentinels_where(*self_, "coalesce(s.campaign, 0) = ? ORDER BY s.id", {campaign});
}

std::optional<SentinelRow> Journal::latest_sentinel(const std::string& machine) {
  std::vector<SentinelRow> found = sentinels_where(*self_, "m.key = ? ORDER BY s.id DESC LIMIT 1", {machine});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<Round> Journal::sentinel_rounds(std::int64_t sentinel) {
  return self_->rounds("sentinel", sentinel);
}

}  // namespace apo
