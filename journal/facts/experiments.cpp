// journal/facts/experiments.cpp - writes experiments with their builds, gates, rounds and judgements as they come
// about, and reads them.
#include "journal/facts/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "journal/columns.h"

namespace apo {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Of an end of the predicted band; NaN where nothing was predicted.
double log_end(const Prediction& prediction, double end) {
  return has_prediction(prediction) ? std::log(end) : kNotANumber;
}

// Of an experiment that were added while they happened.
std::int64_t gates_of(Database& database, std::int64_t experiment) {
  return database.number("SELECT count(*) FROM gate WHERE experiment = ?", {experiment});
}

void check_source(Database& database, const Configuration& configuration, const std::string& hash) {
  if (database.number("SELECT count(*) FROM variant WHERE source_hash = ?", {hash}) == 0) {
    throw std::logic_error("the source '" + hash + "' of " + configuration.label() +
                           " is not in the journal: call add_variant first");
  }
}

std::int64_t machine_of_experiment(Journal& journal, const Experiment& experiment) {
  if (!experiment.machine.empty()) {
    return machine_row(journal, experiment.machine);
  }
  const std::string key = database_of(journal).text(
      "SELECT m.key FROM campaign c JOIN machine m ON m.id = c.machine WHERE c.id = ?", {experiment.campaign});
  if (key.empty()) {
    throw std::logic_error("an experiment outside a campaign needs its machine");
  }
  return machine_row(journal, key);
}

bool was_built(const Build& build) {
  return !build.key.empty() || !build.log.empty() || !build.object_hash.empty() || build.outcome != Outcome::valid;
}

// Which command each run is of follows from its place.
CommandRuns with_sides(std::vector<CommandRun> runs, bool b_first) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].candidate = is_candidate_run(b_first, i);
  }
  return {.runs = std::move(runs)};
}

bool was_timed(const Experiment& experiment) {
  return experiment.outcome == Outcome::valid && experiment.judgement->rounds > 0;
}

// Writes results that are not in the journal yet; the rest was added while it happened.
void add_missing_evidence(Journal& journal, Database& database, const Experiment& experiment) {
  const auto add_missing_build = [&](BuildRole role, std::string_view name, const Build& build) {
    if (was_built(build) &&
        database.number("SELECT count(*) FROM build WHERE experiment = ? AND role = ?", {experiment.id, name}) == 0) {
      add_build(journal, experiment.id, role, build);
    }
  };
  add_missing_build(BuildRole::candidate, "candidate", experiment.candidate_build);
  add_missing_build(BuildRole::incumbent, "incumbent", experiment.incumbent_build);
  for (auto index = static_cast<std::size_t>(gates_of(database, experiment.id)); index < experiment.gates.size();
       ++index) {
    add_gate(journal, experiment.id, experiment.gates[index]);
  }
  const std::int64_t rounds = database.number("SELECT count(*) FROM round WHERE experiment = ?", {experiment.id});
  for (auto index = static_cast<std::size_t>(rounds); index < experiment.rounds.size(); ++index) {
    add_round(journal, experiment.id, experiment.rounds[index]);
  }
}

void insert_judgement(Journal& journal, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  const bool timed = was_timed(experiment);
  insert_row(journal, "judgement", judgement,
             {{"experiment", experiment.id},
              {"outcome", to_string(experiment.outcome)},
              {"cache_policy", judgement.cache_policy ? to_string(*judgement.cache_policy) : ""},
              {"speedup", timed ? judgement.speedup() : kNotANumber},
              {"speedup_lower", timed ? judgement.speedup_lower() : kNotANumber},
              {"speedup_upper", timed ? judgement.speedup_upper() : kNotANumber},
              {"finished_at", time_or_now(experiment.finished_at)}});
}

}  // namespace

std::int64_t begin_experiment(Journal& journal, const Experiment& experiment) {
  Transaction transaction(database_of(journal));
  check_source(database_of(journal), experiment.candidate, experiment.candidate_source_hash);
  check_source(database_of(journal), experiment.incumbent, experiment.incumbent_source_hash);
  const Prediction& prediction = experiment.prediction;
  const std::int64_t id = insert_row(journal, "experiment", experiment,
                                     {{"campaign", Value::reference(experiment.campaign)},
                                      {"iteration", Value::reference(experiment.iteration)},
                                      {"machine", machine_of_experiment(journal, experiment)},
                                      {"predicted_log_low", log_end(prediction, prediction.low)},
                                      {"predicted_log_high", log_end(prediction, prediction.high)},
                                      {"started_at", time_or_now(experiment.started_at)}});
  insert_rows(journal, "experiment_workload", experiment.workloads, {{"experiment", id}});
  insert_rows(journal, "experiment_technique", experiment.techniques, {{"experiment", id}});
  // In a journal that has no such job, or whose job is over, the number means nothing.
  database_of(journal).run(
      "INSERT INTO job_experiment (experiment, job) SELECT ?, id FROM job WHERE id = ?"
      " AND id NOT IN (SELECT job FROM job_end)",
      {id, journal.implementation().job});
  if (experiment.campaign == 0) {
    take(journal, Task::experiment, id);
  }
  transaction.commit();
  return id;
}

void add_build(Journal& journal, std::int64_t experiment, BuildRole role, const Build& build) {
  Transaction transaction(database_of(journal));
  const std::string_view name = role == BuildRole::candidate ? "candidate" : "incumbent";
  insert_row(journal, "build", build,
             {{"experiment", experiment},
              {"role", name},
              {"toolchain", toolchain_row(journal, build.toolchain)},
              {"log", add_blob(journal, "log", build.log)}});
  for (const auto& [resource, value] : build.resources) {
    database_of(journal).run("INSERT INTO build_resource (experiment, role, name, value) VALUES (?, ?, ?, ?)",
                             {experiment, name, resource, value});
  }
  transaction.commit();
}

void add_gate(Journal& journal, std::int64_t experiment, const GateResult& gate) {
  Transaction transaction(database_of(journal));
  insert_row(journal, "gate", gate,
             {{"experiment", experiment}, {"position", gates_of(database_of(journal), experiment)}});
  for (const OutputErrors& errors : gate.errors) {
    insert_row(journal, "output_error", errors, {{"experiment", experiment}});
  }
  if (gate.wrong_case) {
    insert_row(journal, "wrong_case", *gate.wrong_case, {{"experiment", experiment}});
  }
  transaction.commit();
}

void add_round_of(Journal& journal, std::string_view owner, std::int64_t owner_id, const Round& round) {
  Transaction transaction(database_of(journal));
  const std::string runs = round.commands ? encode(round.commands->runs) : "";
  const std::int64_t id = insert_row(journal, "round", round,
                                     {{owner, owner_id},
                                      {"environment", encode_environment(round)},
                                      {"runs", runs.empty() ? Value(nullptr) : Value(runs)},
                                      {"at", utc_now()}});
  int position = 0;
  for (const RoundWorkload& workload : round.workloads) {
    const std::string samples = encode_samples(workload.warmup, workload.blocks);
    insert_row(journal, "round_workload", workload,
               {{"round", id}, {"position", position++}, {"samples", Value::blob(samples)}});
  }
  transaction.commit();
}

void add_round(Journal& journal, std::int64_t experiment, const Round& round) {
  add_round_of(journal, "experiment", experiment, round);
}

void finish_experiment(Journal& journal, const Experiment& experiment, const std::optional<Lesson>& lesson) {
  if (!experiment.judgement) {
    throw std::logic_error("an experiment is finished by its judgement");
  }
  Transaction transaction(database_of(journal));
  add_missing_evidence(journal, database_of(journal), experiment);
  insert_judgement(journal, experiment);
  if (lesson) {
    insert_row(journal, "lesson", *lesson, {{"experiment", experiment.id}, {"at", utc_now()}});
  }
  transaction.commit();
}

namespace {

Build load_build(Journal& journal, std::int64_t experiment, std::string_view role) {
  const std::vector<Build> found =
      read_rows<Build>(journal, "build WHERE experiment = ? AND role = ?", {experiment, role});
  Build build = found.empty() ? Build() : found.front();
  Statement resources = database_of(journal).query(
      "SELECT name, value FROM build_resource WHERE experiment = ? AND role = ?", {experiment, role});
  while (resources.step()) {
    const std::string name = resources.text();
    build.resources[name] = resources.integer();
  }
  return build;
}

std::vector<RoundWorkload> load_workloads(Journal& journal, std::int64_t round) {
  std::vector<RoundWorkload> workloads;
  Statement rows = database_of(journal).query(
      "SELECT " + columns_of<RoundWorkload>() + ", samples FROM round_workload WHERE round = ? ORDER BY position",
      {round});
  while (rows.step()) {
    RoundWorkload& workload = workloads.emplace_back();
    read_row(journal, rows, workload);
    decode_samples(rows.text(), workload.warmup, workload.blocks);
  }
  return workloads;
}

// Without builds, gates and rounds; nullopt where there is none of that number.
std::optional<Experiment> load_summary(Journal& journal, std::int64_t id) {
  std::optional<Experiment> experiment = first_of(read_rows<Experiment>(journal, "experiment WHERE id = ?", {id}));
  if (experiment) {
    experiment->workloads = workloads_of(journal, id);
    experiment->techniques = database_of(journal).texts(
        "SELECT technique FROM experiment_technique WHERE experiment = ? ORDER BY position", {id});
    experiment->judgement = first_of(read_rows<Judgement>(journal, "judgement WHERE experiment = ?", {id}));
  }
  return experiment;
}

}  // namespace

std::vector<std::string> workloads_of(Journal& journal, std::int64_t experiment) {
  return database_of(journal).texts("SELECT workload FROM experiment_workload WHERE experiment = ? ORDER BY position",
                                    {experiment});
}

std::vector<Round> rounds_of(Journal& journal, std::string_view owner_column, std::int64_t owner) {
  std::vector<Round> result;
  Statement rows = database_of(journal).query("SELECT id, environment, runs, " + columns_of<Round>() +
                                                  " FROM round WHERE " + std::string(owner_column) + " = ? ORDER BY id",
                                              {owner});
  while (rows.step()) {
    Round& round = result.emplace_back();
    const std::int64_t id = rows.integer();
    const std::string environment = rows.text();
    std::optional<std::vector<CommandRun>> runs;
    read_column(journal, rows, runs);
    read_row(journal, rows, round);
    if (runs) {
      round.commands = with_sides(std::move(*runs), round.candidate_in_slot0);
    }
    round.workloads = load_workloads(journal, id);
    decode_environment(environment, round);
  }
  return result;
}

Experiment load_experiment(Journal& journal, std::int64_t id, Detail detail) {
  std::optional<Experiment> found = load_summary(journal, id);
  if (!found) {
    const std::int64_t newest = database_of(journal).number("SELECT max(id) FROM experiment");
    throw UserError(
        fmt::format("there is no experiment {} in '{}'", id, journal.path().string()),
        newest == 0 ? "it holds none yet" : fmt::format("it holds 1 to {}; 'apo query' lists them", newest));
  }
  Experiment experiment = std::move(*found);
  experiment.candidate_build = load_build(journal, id, "candidate");
  experiment.incumbent_build = load_build(journal, id, "incumbent");
  experiment.gates = read_rows<GateResult>(journal, "gate WHERE experiment = ? ORDER BY position", {id});
  for (GateResult& gate : experiment.gates) {
    if (gate.gate == "correctness") {
      gate.errors = read_rows<OutputErrors>(journal, "output_error WHERE experiment = ? ORDER BY workload", {id});
    }
    if (gate.outcome == Outcome::incorrect) {
      gate.wrong_case = first_of(read_rows<WrongCase>(journal, "wrong_case WHERE experiment = ?", {id}));
    }
  }
  if (detail == Detail::rounds) {
    experiment.rounds = rounds_of(journal, "experiment", id);
  }
  return experiment;
}

std::vector<Experiment> experiments_of(Journal& journal, std::int64_t campaign, Detail detail) {
  std::vector<Experiment> result;
  for (const std::int64_t id :
       database_of(journal).integers("SELECT id FROM experiment WHERE campaign = ? ORDER BY id", {campaign})) {
    result.push_back(load_experiment(journal, id, detail));
  }
  return result;
}

namespace {

// A quick judgement ranks and decides nothing, also where its machine was too noisy for that.
constexpr std::string_view kDecides = " AND NOT (j.preset IS 'quick' AND j.verdict IS 'inconclusive')";

}  // namespace

int judged_candidates(Journal& journal, const std::string& family, const std::string& workload_class,
                      const std::string& machine) {
  const std::string query =
      "SELECT count(*) FROM experiment e JOIN machine m ON m.id = e.machine LEFT JOIN judgement j ON j.experiment = "
      "e.id"
      " WHERE e.family = ? AND e.workload_class = ? AND m.key IN (SELECT value FROM json_each(?))"
      " AND e.id NOT IN (SELECT experiment FROM replay)"
      " AND EXISTS (SELECT 1 FROM round r WHERE r.experiment = e.id)" +
      std::string(kDecides);
  return static_cast<int>(database_of(journal).number(query, {family, workload_class, peers_of(journal, machine)}));
}

namespace {

// Ascending.
std::vector<std::int64_t> newest_judged_ids(Database& database, const std::string& family,
                                            const std::string& workload_class, const std::string& machines,
                                            JudgedAt where, std::int64_t most) {
  const std::string negation = where == JudgedAt::campaigns_here ? "" : "NOT ";
  std::vector<std::int64_t> ids = database.integers(
      "SELECT e.id FROM experiment e CROSS JOIN judgement j ON j.experiment = e.id CROSS JOIN machine m"
      " ON m.id = e.machine WHERE e.family = ?" +
          std::string(kDecides) + " AND " + negation +
          "(e.campaign IS NOT NULL AND e.workload_class = ? AND m.key IN (SELECT value FROM json_each(?)))"
          " ORDER BY e.id DESC LIMIT ?",
      {family, workload_class, machines, most});
  std::ranges::reverse(ids);
  return ids;
}

}  // namespace

std::vector<Experiment> newest_judged(Journal& journal, const std::string& family, const std::string& workload_class,
                                      const std::string& machine, std::int64_t most, JudgedAt where) {
  std::vector<Experiment> result;
  for (const std::int64_t id :
       newest_judged_ids(database_of(journal), family, workload_class, peers_of(journal, machine), where, most)) {
    Experiment& experiment = result.emplace_back(*load_summary(journal, id));
    experiment.gates =
        read_rows<GateResult>(journal, "gate WHERE experiment = ? AND outcome <> 'valid' ORDER BY position", {id});
  }
  return result;
}

// Searches from the newest one back, to the first that fits.
std::optional<JudgedWorkload> newest_judged_workload(Journal& journal, const std::string& variant,
                                                     const std::string& opponent, const std::string& machine) {
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
  Statement row = database_of(journal).query(kQuery, {variant, opponent, machine});
  if (!row.step()) {
    return std::nullopt;
  }
  JudgedWorkload judged{.experiment = row.integer()};
  judged.workload = row.text();
  return judged;
}

std::optional<std::int64_t> newest_with_code(Journal& journal, const JudgedCode& code) {
  constexpr std::string_view kQuery =
      "SELECT b.experiment FROM build b"
      " JOIN build i ON i.experiment = b.experiment AND i.role = 'incumbent' AND i.code_hash = ?2"
      " JOIN experiment e ON e.id = b.experiment JOIN machine m ON m.id = e.machine AND m.key = ?3"
      " JOIN judgement j ON j.experiment = b.experiment AND j.effect IS NOT NULL AND j.cache_policy = ?5"
      " AND j.verdict IN ('accepted', 'reverted') AND j.reason <> 'gate_failed'"
      " WHERE b.code_hash = ?1 AND b.role = 'candidate'"
      " AND (SELECT group_concat(workload) FROM experiment_workload w WHERE w.experiment = e.id) = ?4"
      " ORDER BY b.experiment DESC LIMIT 1";
  const std::int64_t found = database_of(journal).number(
      kQuery, {code.candidate, code.incumbent, code.machine, code.workload, to_string(code.cache)});
  return found != 0 ? std::optional(found) : std::nullopt;
}

}  // namespace apo
