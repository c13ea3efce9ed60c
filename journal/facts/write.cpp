// journal/facts/write.cpp - writes the rows of a campaign in order.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/columns.h"

namespace apo {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Logs of the predicted band; NaN where nothing was predicted.
struct LogBand {
  double low = kNotANumber;
  double high = kNotANumber;
};

LogBand log_band(const Prediction& prediction) {
  const bool untouched = prediction.low == 1.0 && prediction.high == 1.0 && prediction.because.empty();
  const bool is_band = prediction.low > 0 && prediction.high >= prediction.low;
  return untouched || !is_band ? LogBand{} : LogBand{std::log(prediction.low), std::log(prediction.high)};
}

bool exists(Database& database, std::string_view sql, std::initializer_list<Value> values) {
  return database.query(sql, values).step();
}

std::size_t rows_of(Database& database, std::string_view sql, std::int64_t owner) {
  return database.integers(sql, {owner}).size();
}

void check_source(Database& database, const Configuration& configuration, const std::string& hash) {
  if (!exists(database, "SELECT 1 FROM variant WHERE source_hash = ?", {hash})) {
    throw std::logic_error("the source '" + hash + "' of " + configuration.label() +
                           " is not in the journal: call add_variant first");
  }
}

std::int64_t machine_of_experiment(Journal::Implementation& self, const Experiment& experiment) {
  if (!experiment.machine.empty()) {
    return self.machine_row(experiment.machine);
  }
  Statement row = self.database.query("SELECT m.key FROM campaign c JOIN machine m ON m.id = c.machine WHERE c.id = ?",
                                      {experiment.campaign});
  if (!row.step()) {
    throw std::logic_error("an experiment outside a campaign needs its machine");
  }
  return self.machine_row(row.text());
}

bool was_built(const Build& build) {
  return !build.key.empty() || !build.log.empty() || !build.object_hash.empty() || build.outcome != Outcome::valid;
}

bool was_timed(const Experiment& experiment) {
  return experiment.outcome == Outcome::valid && experiment.judgement->rounds > 0;
}

// Writes results that are not in the journal yet; the rest was added while it happened.
void add_missing_evidence(Journal& journal, Database& database, const Experiment& experiment) {
  const auto add_missing_build = [&](Journal::Role role, std::string_view name, const Build& build) {
    if (was_built(build) &&
        !exists(database, "SELECT 1 FROM build WHERE experiment = ? AND role = ?", {experiment.id, name})) {
      journal.add_build(experiment.id, role, build);
    }
  };
  add_missing_build(Journal::Role::candidate, "candidate", experiment.candidate_build);
  add_missing_build(Journal::Role::incumbent, "incumbent", experiment.incumbent_build);
  const std::size_t gates = rows_of(database, "SELECT 1 FROM gate WHERE experiment = ?", experiment.id);
  for (std::size_t index = gates; index < experiment.gates.size(); ++index) {
    journal.add_gate(experiment.id, experiment.gates[index]);
  }
  const std::size_t rounds = rows_of(database, "SELECT 1 FROM round WHERE experiment = ?", experiment.id);
  for (std::size_t index = rounds; index < experiment.rounds.size(); ++index) {
    journal.add_round(experiment.id, experiment.rounds[index]);
  }
}

void insert_judgement(Journal::Implementation& self, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  const bool timed = was_timed(experiment);
  insert_row(self, "judgement", judgement,
             {{"experiment", experiment.id},
              {"outcome", to_string(experiment.outcome)},
              {"cache_policy", judgement.cache_policy ? to_string(*judgement.cache_policy) : ""},
              {"speedup", timed ? judgement.speedup() : kNotANumber},
              {"speedup_lower", timed ? judgement.speedup_lower() : kNotANumber},
              {"speedup_upper", timed ? judgement.speedup_upper() : kNotANumber},
              {"finished_at", time_or_now(experiment.finished_at)}});
}

}  // namespace

// ---------------------------------------------------------------- campaigns and iterations

std::int64_t Journal::begin_campaign(const Campaign& campaign) {
  Transaction transaction(self_->database);
  Statement source = self_->database.query("SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1",
                                           {campaign.baseline.variant});
  const std::string hash = source.step() ? source.text() : "";
  const std::int64_t id = insert_row(*self_, "campaign", campaign,
                                     {{"machine", self_->machine_row(campaign.machine)},
                                      {"baseline_source", hash.empty() ? Value(nullptr) : Value(hash)},
                                      {"started_at", time_or_now(campaign.started_at)}});
  self_->take(Task::campaign, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void Journal::take_campaign(const Campaign& campaign) {
  if (!self_->lock->take(Task::campaign, campaign.id)) {
    const auto who = apo::who_works_on(self_->path, Task::campaign, campaign.id);
    throw UserError(
        fmt::format("campaign {} of {}, class {}, on this machine is being run by {}", campaign.id,
                    campaign.policy.family, campaign.policy.workload_class, who.value_or("another process")),
        "wait for it to end or stop it; another family or class can run beside it, and another journal with "
        "--journal can hold this one");
  }
}

void Journal::Implementation::take(Task what, std::int64_t id) {
  if (!lock->take(what, id)) {
    throw std::logic_error("what was just begun is taken");
  }
}

void Journal::finish_campaign(std::int64_t id, std::uint64_t seed, const std::string& note) {
  self_->database.run("INSERT INTO campaign_end (campaign, seed, note, ended_at) VALUES (?, ?, ?, ?)",
                      {id, seed, note, utc_now()});
}

std::int64_t Journal::begin_iteration(const IterationRow& iteration) {
  Transaction transaction(self_->database);
  const std::int64_t id =
      insert_row(*self_, "iteration", iteration, {{"started_at", time_or_now(iteration.started_at)}});
  transaction.commit();
  return id;
}

void Journal::finish_iteration(std::int64_t id, const std::string& note) {
  self_->database.run("INSERT INTO iteration_end (iteration, note, ended_at) VALUES (?, ?, ?)", {id, note, utc_now()});
}

// ---------------------------------------------------------------- experiments

std::int64_t Journal::begin_experiment(const Experiment& experiment) {
  Transaction transaction(self_->database);
  check_source(self_->database, experiment.candidate, experiment.candidate_source_hash);
  check_source(self_->database, experiment.incumbent, experiment.incumbent_source_hash);
  const LogBand band = log_band(experiment.prediction);
  const std::int64_t id = insert_row(*self_, "experiment", experiment,
                                     {{"campaign", Value::reference(experiment.campaign)},
                                      {"iteration", Value::reference(experiment.iteration)},
                                      {"machine", machine_of_experiment(*self_, experiment)},
                                      {"predicted_log_low", band.low},
                                      {"predicted_log_high", band.high},
                                      {"started_at", time_or_now(experiment.started_at)}});
  insert_rows(*self_, "experiment_workload", experiment.workloads, {{"experiment", id}});
  insert_rows(*self_, "experiment_technique", experiment.techniques, {{"experiment", id}});
  // In a journal that has no such job, or whose job is over, the number means nothing.
  self_->database.run(
      "INSERT INTO job_experiment (experiment, job) SELECT ?, id FROM job WHERE id = ?"
      " AND id NOT IN (SELECT job FROM job_end)",
      {id, self_->job});
  if (experiment.campaign == 0) {
    self_->take(Task::experiment, id);
  }
  transaction.commit();
  return id;
}

void Journal::add_build(std::int64_t experiment, Role role, const Build& build) {
  Transaction transaction(self_->database);
  const std::string_view name = role == Role::candidate ? "candidate" : "incumbent";
  insert_row(*self_, "build", build,
             {{"experiment", experiment},
              {"role", name},
              {"toolchain", self_->toolchain_row(build.toolchain)},
              {"log", self_->add_blob("log", build.log)}});
  for (const auto& [resource, value] : build.resources) {
    self_->database.run("INSERT INTO build_resource (experiment, role, name, value) VALUES (?, ?, ?, ?)",
                        {experiment, name, resource, value});
  }
  transaction.commit();
}

void Journal::add_gate(std::int64_t experiment, const GateResult& gate) {
  Transaction transaction(self_->database);
  const std::size_t before = rows_of(self_->database, "SELECT 1 FROM gate WHERE experiment = ?", experiment);
  insert_row(*self_, "gate", gate, {{"experiment", experiment}, {"position", static_cast<std::int64_t>(before)}});
  for (const OutputErrors& errors : gate.errors) {
    insert_row(*self_, "output_error", errors, {{"experiment", experiment}});
  }
  transaction.commit();
}

void Journal::Implementation::add_round(std::int64_t experiment, std::int64_t certification, std::int64_t sentinel,
                                        const Round& round) {
  Transaction transaction(database);
  const std::int64_t id = insert_row(*this, "round", round,
                                     {{"experiment", Value::reference(experiment)},
                                      {"certification", Value::reference(certification)},
                                      {"sentinel", Value::reference(sentinel)},
                                      {"environment", encode_environment(round)},
                                      {"at", utc_now()}});
  int position = 0;
  for (const RoundWorkload& workload : round.workloads) {
    const std::string samples = encode_samples(workload.warmup, workload.blocks);
    insert_row(*this, "round_workload", workload,
               {{"round", id}, {"position", position++}, {"samples", Value::blob(samples)}});
  }
  transaction.commit();
}

void Journal::add_round(std::int64_t experiment, const Round& round) {
  self_->add_round(experiment, 0, 0, round);
}

void Journal::finish_experiment(const Experiment& experiment, const std::optional<Lesson>& lesson) {
  if (!experiment.judgement) {
    throw std::logic_error("an experiment is finished by its judgement");
  }
  Transaction transaction(self_->database);
  add_missing_evidence(*this, self_->database, experiment);
  insert_judgement(*self_, experiment);
  if (lesson) {
    insert_row(*self_, "lesson", *lesson, {{"experiment", experiment.id}, {"at", utc_now()}});
  }
  transaction.commit();
}

// ---------------------------------------------------------------- certifications and sentinels

namespace {

// Without its numbers where the clock could not be read.
void insert_clock(Journal::Implementation& self, std::int64_t certification, ClockCoupling clock) {
  if (!clock.missing.empty()) {
    for (double* number :
         {&clock.solo_run_s, &clock.confidence, &clock.time_effect, &clock.time_lower, &clock.time_upper,
          &clock.cycle_effect, &clock.clock_effect, &clock.clock_lower, &clock.clock_upper}) {
      *number = kNotANumber;
    }
  }
  insert_row(self, "certification_clock", clock, {{"certification", certification}});
}

}  // namespace

std::int64_t Journal::add_certification(const Certification& certification, const std::vector<Round>& rounds,
                                        const std::vector<SoloRun>& solo_runs) {
  Transaction transaction(self_->database);
  const std::vector<std::int64_t> newest = self_->database.integers(
      "SELECT coalesce(max(id), 0) FROM experiment WHERE campaign = ?", {certification.campaign});
  const std::int64_t id = insert_row(*self_, "certification", certification,
                                     {{"after_experiment", newest.front()}, {"at", time_or_now(certification.at)}});
  for (const Round& round : rounds) {
    self_->add_round(0, id, 0, round);
  }
  if (certification.clock) {
    insert_clock(*self_, id, *certification.clock);
    insert_rows(*self_, "certification_solo_run", solo_runs, {{"certification", id}});
  }
  transaction.commit();
  return id;
}

std::int64_t Journal::add_sentinel(const SentinelRow& sentinel, const std::vector<Round>& rounds) {
  Transaction transaction(self_->database);
  const std::int64_t id = insert_row(*self_, "sentinel", sentinel,
                                     {{"campaign", Value::reference(sentinel.campaign)},
                                      {"machine", self_->machine_row(sentinel.machine)},
                                      {"at", time_or_now(sentinel.at)}});
  for (const Round& round : rounds) {
    self_->add_round(0, 0, id, round);
  }
  transaction.commit();
  return id;
}

}  // namespace apo
