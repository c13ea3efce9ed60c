// journal/facts/read_experiments.cpp - experiments with their builds, gates and rounds, back into the records.
#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "journal/columns.h"

namespace apo {
namespace {

Build load_build(Journal::Implementation& self, std::int64_t experiment, std::string_view role) {
  Build build;
  Statement row = self.database.query("SELECT " + columns_of<Build>() +
                                          ", compiler, version, log FROM build b JOIN toolchain t ON t.id = "
                                          "b.toolchain WHERE experiment = ? AND role = ?",
                                      {experiment, role});
  if (!row.step()) {
    return build;
  }
  read_row(self, row, build);
  build.toolchain.compiler = row.text();
  build.toolchain.version = row.text();
  build.log = self.blob(row.text());
  Statement resources = self.database.query("SELECT name, value FROM build_resource WHERE experiment = ? AND role = ?",
                                            {experiment, role});
  while (resources.step()) {
    const std::string name = resources.text();
    build.resources[name] = resources.integer();
  }
  return build;
}

void load_judgement(Journal::Implementation& self, Experiment& experiment) {
  static const std::string query =
      "SELECT " + columns_of<Judgement>() + ", outcome, finished_at FROM judgement WHERE experiment = ?";
  Statement row = self.database.query(query, {experiment.id});
  if (row.step()) {
    read_row(self, row, experiment.judgement.emplace());
    read_column(self, row, experiment.outcome);
    experiment.finished_at = row.text();
  }
}

std::vector<RoundWorkload> load_workloads(Journal::Implementation& self, std::int64_t round) {
  std::vector<RoundWorkload> workloads;
  Statement rows = self.database.query(
      "SELECT " + columns_of<RoundWorkload>() + ", samples FROM round_workload WHERE round = ? ORDER BY position",
      {round});
  while (rows.step()) {
    RoundWorkload& workload = workloads.emplace_back();
    read_row(self, rows, workload);
    decode_samples(rows.text(), workload.warmup, workload.blocks);
  }
  return workloads;
}

// Without builds, gates and rounds; nullopt where there is none of that number.
std::optional<Experiment> load_summary(Journal::Implementation& self, std::int64_t id) {
  static const std::string query = "SELECT m.key, " + columns_of<Experiment>() +
                                   " FROM experiment e JOIN machine m ON m.id = e.machine WHERE e.id = ?";
  Statement row = self.database.query(query, {id});
  if (!row.step()) {
    return std::nullopt;
  }
  Experiment experiment{.id = id};
  experiment.machine = row.text();
  read_row(self, row, experiment);
  experiment.workloads =
      self.database.texts("SELECT workload FROM experiment_workload WHERE experiment = ? ORDER BY position", {id});
  experiment.techniques =
      self.database.texts("SELECT technique FROM experiment_technique WHERE experiment = ? ORDER BY position", {id});
  load_judgement(self, experiment);
  return experiment;
}

}  // namespace

std::vector<Round> Journal::Implementation::rounds(std::string_view owner_column, std::int64_t owner) {
  std::vector<Round> result;
  Statement rows = database.query("SELECT id, environment, " + columns_of<Round>() + " FROM round WHERE " +
                                      std::string(owner_column) + " = ? ORDER BY id",
                                  {owner});
  while (rows.step()) {
    Round& round = result.emplace_back();
    const std::int64_t id = rows.integer();
    const std::string environment = rows.text();
    read_row(*this, rows, round);
    round.workloads = load_workloads(*this, id);
    decode_environment(environment, round);
  }
  return result;
}

Experiment Journal::load_experiment(std::int64_t id, Detail detail) {
  std::optional<Experiment> found = load_summary(*self_, id);
  if (!found) {
    const std::int64_t newest = self_->database.number("SELECT max(id) FROM experiment");
    throw UserError(
        fmt::format("there is no experiment {} in '{}'", id, self_->path.string()),
        newest == 0 ? "it holds none yet" : fmt::format("it holds 1 to {}; 'apo query' lists them", newest));
  }
  Experiment experiment = std::move(*found);
  experiment.candidate_build = load_build(*self_, id, "candidate");
  experiment.incumbent_build = load_build(*self_, id, "incumbent");
  experiment.gates = read_rows<GateResult>(*self_, "gate WHERE experiment = ? ORDER BY position", {id});
  for (GateResult& gate : experiment.gates) {
    if (gate.gate == "correctness") {
      gate.errors = read_rows<OutputErrors>(*self_, "output_error WHERE experiment = ? ORDER BY workload", {id});
    }
  }
  if (detail == Detail::rounds) {
    experiment.rounds = self_->rounds("experiment", id);
  }
  return experiment;
}

std::vector<Experiment> Journal::experiments(std::int64_t campaign, Detail detail) {
  std::vector<Experiment> result;
  for (const std::int64_t id :
       self_->database.integers("SELECT id FROM experiment WHERE campaign = ? ORDER BY id", {campaign})) {
    result.push_back(load_experiment(id, detail));
  }
  return result;
}

namespace {

// Ascending.
std::vector<std::int64_t> newest_judged_ids(Database& database, const std::string& family,
                                            const std::string& workload_class, const std::string& machines,
                                            Journal::Where where, std::int64_t most) {
  const std::string negation = where == Journal::Where::campaigns_here ? "" : "NOT ";
  std::vector<std::int64_t> ids = database.integers(
      "SELECT e.id FROM experiment e CROSS JOIN judgement j ON j.experiment = e.id CROSS JOIN machine m"
      " ON m.id = e.machine WHERE e.family = ? AND j.reason <> 'ranked' AND " +
          negation +
          "(e.campaign IS NOT NULL AND e.workload_class = ? AND m.key IN (SELECT value FROM json_each(?)))"
          " ORDER BY e.id DESC LIMIT ?",
      {family, workload_class, machines, most});
  std::ranges::reverse(ids);
  return ids;
}

}  // namespace

std::vector<Experiment> Journal::newest_judged(const std::string& family, const std::string& workload_class,
                                               const std::string& machine, std::int64_t most, Where where) {
  std::vector<Experiment> result;
  for (const std::int64_t id :
       newest_judged_ids(self_->database, family, workload_class, self_->peers(machine), where, most)) {
    Experiment& experiment = result.emplace_back(*load_summary(*self_, id));
    experiment.gates =
        read_rows<GateResult>(*self_, "gate WHERE experiment = ? AND outcome <> 'valid' ORDER BY position", {id});
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
