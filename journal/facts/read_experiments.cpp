// journal/facts/read_experiments.cpp - experiments with their builds, gates and rounds, back into the records.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/error.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

Outcome outcome_of(const std::string& word) {
  return known(outcome_from(word), word);
}
Verdict verdict_of(const std::string& word) {
  return known(verdict_from(word), word);
}
Reason reason_of(const std::string& word) {
  return known(reason_from(word), word);
}
RoundStage stage_of(const std::string& word) {
  return known(round_stage_from(word), word);
}

std::vector<std::string> texts(Database& database, std::string_view sql, std::int64_t owner) {
  std::vector<std::string> result;
  Statement rows = database.query(sql, {owner});
  while (rows.step()) {
    result.push_back(rows.text());
  }
  return result;
}

std::vector<OutputErrors> load_errors(Database& database, std::int64_t experiment) {
  std::vector<OutputErrors> errors;
  Statement rows = database.query(
      "SELECT workload, max_absolute, max_relative, has_nan, has_inf FROM output_error WHERE experiment = ?"
      " ORDER BY workload",
      {experiment});
  while (rows.step()) {
    errors.push_back({rows.text(), rows.real(), rows.real(), rows.boolean(), rows.boolean()});
  }
  return errors;
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
      " samples, seconds, search_effect, alpha, minimum_detectable, incumbent_ns, candidate_ns, preset, cache_policy,"
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
                   .preset = row.text(),
                   .cache_policy = cache_policy_from(row.text()),
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

}  // namespace

std::vector<Round> Journal::Implementation::rounds(std::string_view owner_column, std::int64_t owner) {
  std::vector<Round> result;
  Statement rows = database.query(
      "SELECT id, stage, idx, seed, candidate_in_slot0, effect, void_why, seconds, environment FROM round WHERE " +
          std::string(owner_column) + " = ? ORDER BY id",
      {owner});
  while (rows.step()) {
    Round round;
    const std::int64_t id = rows.integer();
    round.stage = stage_of(rows.text());
    round.index = rows.small();
    round.seed = rows.seed();
    round.candidate_in_slot0 = rows.boolean();
    round.effect = rows.real();
    round.void_why = rows.text();
    round.seconds = rows.real();
    const std::string environment = rows.text();
    round.workloads = load_workloads(database, id);
    decode_environment(environment, round);
    result.push_back(std::move(round));
  }
  return result;
}

Experiment Journal::load_experiment(std::int64_t id, Detail detail) {
  Statement row = self_->database.query(
      "SELECT coalesce(campaign, 0), coalesce(iteration, 0), idx, family, workload_class, m.key, candidate, incumbent,"
      " candidate_source, incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because,"
      " prediction_source, started_at FROM experiment e JOIN machine m ON m.id = e.machine WHERE e.id = ?",
      {id});
  if (!row.step()) {
    Statement last = self_->database.query("SELECT max(id) FROM experiment");
    last.step();
    const std::int64_t newest = last.integer();
    throw UserError(
        fmt::format("there is no experiment {} in '{}'", id, self_->path.string()),
        newest == 0 ? "it holds none yet" : fmt::format("it holds 1 to {}; 'apo query' lists them", newest));
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
  experiment.prediction = next_prediction(row);
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
    if (experiment.gates.back().gate == "correctness") {
      experiment.gates.back().errors = load_errors(database, id);
    }
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

namespace {

// Ascending.
std::vector<std::int64_t> newest_judged_ids(Database& database, const std::string& family,
                                            const std::string& workload_class, const std::string& machines,
                                            Journal::Where where, std::int64_t most) {
  const std::string negation = where == Journal::Where::campaigns_here ? "" : "NOT ";
  std::vector<std::int64_t> ids;
  Statement rows = database.query(
      "SELECT e.id FROM experiment e CROSS JOIN judgement j ON j.experiment = e.id CROSS JOIN machine m"
      " ON m.id = e.machine WHERE e.family = ? AND j.reason <> 'ranked' AND " +
          negation +
          "(e.campaign IS NOT NULL AND e.workload_class = ? AND m.key IN (SELECT value FROM json_each(?)))"
          " ORDER BY e.id DESC LIMIT ?",
      {family, workload_class, machines, most});
  while (rows.step()) {
    ids.push_back(rows.integer());
  }
  std::ranges::reverse(ids);
  return ids;
}

}  // namespace

std::vector<Experiment> Journal::newest_judged(const std::string& family, const std::string& workload_class,
                                               const std::string& machine, std::int64_t most, Where where) {
  Database& database = self_->database;
  std::map<std::int64_t, Configuration> configurations;
  const auto configuration = [&](std::int64_t row) {
    const auto [known, added] = configurations.try_emplace(row);
    if (added) {
      known->second = self_->configuration(row);
    }
    return known->second;
  };
  std::vector<Experiment> result;
  for (const std::int64_t id :
       newest_judged_ids(database, family, workload_class, self_->peers(machine), where, most)) {
    Statement row = database.query(
        "SELECT m.key, e.workload_class, e.campaign, e.idx, e.candidate, e.incumbent, e.candidate_source,"
        " e.incumbent_source, e.predicted_low, e.predicted_high, e.predicted_over, e.predicted_because,"
        " e.prediction_source FROM experiment e JOIN machine m ON m.id = e.machine WHERE e.id = ?",
        {id});
    row.step();
    Experiment experiment{.id = id, .family = family};
    experiment.machine = row.text();
    experiment.workload_class = row.text();
    experiment.campaign = row.integer();
    experiment.index = row.small();
    experiment.candidate = configuration(row.integer());
    experiment.incumbent = configuration(row.integer());
    experiment.candidate_source_hash = row.text();
    experiment.incumbent_source_hash = row.text();
    experiment.prediction = next_prediction(row);
    experiment.techniques =
        texts(database, "SELECT technique FROM experiment_technique WHERE experiment = ? ORDER BY position", id);
    experiment.workloads =
        texts(database, "SELECT workload FROM experiment_workload WHERE experiment = ? ORDER BY position", id);
    experiment.judgement = load_judgement(database, experiment);
    Statement gates = database.query(
        "SELECT gate, outcome, evidence, seconds FROM gate WHERE experiment = ? AND outcome <> 'valid' ORDER BY "
        "position",
        {id});
    while (gates.step()) {
      experiment.gates.push_back({gates.text(), outcome_of(gates.text()), gates.text(), gates.real()});
    }
    result.push_back(std::move(experiment));
  }
  return result;
}

// Searches from the newest one back, to the first that fits.
std::optional<JudgedWorkload> Journal::newest_judged_workload(const std::string& variant, const std::string& opponent,
                                                              const std::string& machine) {
  constexpr std::string_view kQuery =
      "WITH mine AS MATERIALIZED (SELECT id FROM configuration WHERE variant = ?1),"
      " theirs AS MATERIALIZED (SELECT id FROM configuration WHERE ?2 = '' OR variant = ?2),"
      " here AS MATERIALIZED (SELECT id FROM machine WHERE key = ?3)"
      " SELECT e.id, w.workload FROM experiment e"
      " JOIN experiment_workload w ON w.experiment = e.id AND w.position = 0"
      " WHERE ((e.candidate IN mine AND e.incumbent IN theirs) OR (e.incumbent IN mine AND e.candidate IN theirs))"
      " AND e.machine IN here"
      " AND EXISTS (SELECT 1 FROM judgement j WHERE j.experiment = e.id AND j.effect IS NOT NULL)"
      " ORDER BY e.id DESC LIMIT 1";
  Statement row = self_->database.query(kQuery, {variant, opponent, machine});
  if (!row.step()) {
    return std::nullopt;
  }
  JudgedWorkload judged{.experiment = row.integer()};
  judged.workload = row.text();
  return judged;
}

std::optional<std::int64_t> Journal::newest_with_code(const JudgedCode& code) {
  constexpr std::string_view kQuery =
      "SELECT b.experiment FROM build b"
      " JOIN build i ON i.experiment = b.experiment AND i.role = 'incumbent' AND i.code_hash = ?2"
      " JOIN experiment e ON e.id = b.experiment JOIN machine m ON m.id = e.machine AND m.key = ?3"
      " JOIN judgement j ON j.experiment = b.experiment AND j.effect IS NOT NULL AND j.cache_policy = ?5"
      " AND j.verdict IN ('accepted', 'reverted') AND j.reason <> 'gate_failed'"
      " WHERE b.code_hash = ?1 AND b.role = 'candidate'"
      " AND (SELECT group_concat(workload) FROM experiment_workload w WHERE w.experiment = e.id) = ?4"
      " ORDER BY b.experiment DESC LIMIT 1";
  Statement row = self_->database.query(
      kQuery, {code.candidate, code.incumbent, code.machine, code.workload, to_string(code.cache)});
  return row.step() ? std::optional(row.integer()) : std::nullopt;
}

}  // namespace apo
