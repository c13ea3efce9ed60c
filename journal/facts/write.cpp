// journal/facts/write.cpp - writes the rows of a campaign in order.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/encode.h"
#include "journal/implementation.h"

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

std::int64_t count(Database& database, std::string_view sql, std::int64_t owner) {
  Statement row = database.query(sql, {owner});
  row.step();
  return row.integer();
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
  const auto gates =
      static_cast<std::size_t>(count(database, "SELECT count(*) FROM gate WHERE experiment = ?", experiment.id));
  for (std::size_t index = gates; index < experiment.gates.size(); ++index) {
    journal.add_gate(experiment.id, experiment.gates[index]);
  }
  const auto rounds =
      static_cast<std::size_t>(count(database, "SELECT count(*) FROM round WHERE experiment = ?", experiment.id));
  for (std::size_t index = rounds; index < experiment.rounds.size(); ++index) {
    journal.add_round(experiment.id, experiment.rounds[index]);
  }
}

void insert_judgement(Database& database, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  const bool timed = was_timed(experiment);
  database.run(
      "INSERT INTO judgement (experiment, outcome, verdict, reason, sentence, effect, lower, upper, confidence, rounds,"
      " processes, samples, seconds, search_effect, alpha, minimum_detectable, minimum_claim, incumbent_ns, "
      "candidate_ns, preset,"
      " cache_policy, rule_version, speedup, speedup_lower, speedup_upper, finished_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {experiment.id,
       to_string(experiment.outcome),
       to_string(judgement.verdict),
       to_string(judgement.reason),
       judgement.sentence,
       judgement.effect,
       judgement.lower,
       judgement.upper,
       judgement.confidence,
       judgement.rounds,
       judgement.processes,
       judgement.samples,
       judgement.seconds,
       judgement.search_effect,
       judgement.alpha,
       judgement.minimum_detectable,
       judgement.minimum_claim,
       judgement.incumbent_ns,
       judgement.candidate_ns,
       judgement.preset,
       judgement.cache_policy ? to_string(*judgement.cache_policy) : "",
       judgement.rule_version,
       timed ? judgement.speedup() : kNotANumber,
       timed ? judgement.speedup_lower() : kNotANumber,
       timed ? judgement.speedup_upper() : kNotANumber,
       time_or_now(experiment.finished_at)});
}

}  // namespace

// ---------------------------------------------------------------- campaigns and iterations

std::int64_t Journal::begin_campaign(const Campaign& campaign) {
  Transaction transaction(self_->database);
  const Policy& policy = campaign.policy;
  const std::int64_t id = self_->database.insert(
      "INSERT INTO campaign (machine, baseline, baseline_source, family, workload_class, workloads, policy_baseline,"
      " iterations, candidates_per_iteration, budget_s, cache_policy, preset, layout, target, started_at)"
      " VALUES (?, ?, (SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1), ?, ?, ?, ?, ?, ?, ?,"
      " ?, ?, nullif(?, ''), ?, ?)",
      {self_->machine_row(campaign.machine), self_->configuration_row(campaign.baseline), campaign.baseline.variant,
       policy.family, policy.workload_class, encode(policy.workloads), policy.baseline, policy.iterations,
       policy.candidates_per_iteration, policy.budget_s, to_string(policy.cache_policy), policy.judge_preset,
       policy.layout ? to_string(*policy.layout) : "", to_string(policy.target), time_or_now(campaign.started_at)});
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
      self_->database.insert("INSERT INTO iteration (campaign, idx, incumbent, started_at) VALUES (?, ?, ?, ?)",
                             {iteration.campaign, iteration.index, self_->configuration_row(iteration.incumbent),
                              time_or_now(iteration.started_at)});
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
  const Prediction& prediction = experiment.prediction;
  const LogBand band = log_band(prediction);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO experiment (campaign, iteration, idx, family, workload_class, machine, candidate, incumbent,"
      " candidate_source, incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because,"
      " prediction_source, predicted_log_low, predicted_log_high, started_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(experiment.campaign), Value::reference(experiment.iteration), experiment.index,
       experiment.family, experiment.workload_class, machine_of_experiment(*self_, experiment),
       self_->configuration_row(experiment.candidate), self_->configuration_row(experiment.incumbent),
       experiment.candidate_source_hash, experiment.incumbent_source_hash, prediction.low, prediction.high,
       prediction.relative_to, prediction.because, to_string(prediction.source), band.low, band.high,
       time_or_now(experiment.started_at)});
  int position = 0;
  for (const std::string& workload : experiment.workloads) {
    self_->database.run("INSERT INTO experiment_workload (experiment, position, workload) VALUES (?, ?, ?)",
                        {id, position++, workload});
  }
  position = 0;
  for (const std::string& technique : experiment.techniques) {
    self_->database.run("INSERT INTO experiment_technique (experiment, position, technique) VALUES (?, ?, ?)",
                        {id, position++, technique});
  }
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
  self_->database.run(
      "INSERT INTO build (experiment, role, key, outcome, object_path, object_hash, code_hash, flags, toolchain, log,"
      " seconds, from_cache) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {experiment, name, build.key, to_string(build.outcome), build.object_path, build.object_hash, build.code_hash,
       encode(build.flags), self_->toolchain_row(build.toolchain), self_->add_blob("log", build.log), build.seconds,
       build.from_cache});
  for (const auto& [resource, value] : build.resources) {
    self_->database.run("INSERT INTO build_resource (experiment, role, name, value) VALUES (?, ?, ?, ?)",
                        {experiment, name, resource, value});
  }
  transaction.commit();
}

void Journal::add_gate(std::int64_t experiment, const GateResult& gate) {
  Transaction transaction(self_->database);
  self_->database.run(
      "INSERT INTO gate (experiment, position, gate, outcome, evidence, seconds)"
      " VALUES (?, (SELECT count(*) FROM gate WHERE experiment = ?), ?, ?, ?, ?)",
      {experiment, experiment, gate.gate, to_string(gate.outcome), gate.evidence, gate.seconds});
  for (const OutputErrors& errors : gate.errors) {
    self_->database.run(
        "INSERT INTO output_error (experiment, workload, max_absolute, max_relative, has_nan, has_inf)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        {experiment, errors.workload, errors.max_absolute, errors.max_relative, errors.has_nan, errors.has_inf});
  }
  transaction.commit();
}

void Journal::Implementation::add_round(std::int64_t experiment, std::int64_t certification, std::int64_t sentinel,
                                        const Round& round) {
  Transaction transaction(database);
  const std::int64_t id = database.insert(
      "INSERT INTO round (experiment, certification, sentinel, stage, idx, seed, candidate_in_slot0, effect, void_why,"
      " seconds, environment, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(experiment), Value::reference(certification), Value::reference(sentinel),
       to_string(round.stage), round.index, round.seed, round.candidate_in_slot0, round.effect, round.void_why,
       round.seconds, encode_environment(round), utc_now()});
  int position = 0;
  for (const RoundWorkload& workload : round.workloads) {
    const std::string samples = encode_samples(workload.warmup, workload.blocks);
    database.run(
        "INSERT INTO round_workload (round, position, workload, repetitions, effect, incumbent_p90_ns,"
        " candidate_p90_ns, incumbent_median_ns, candidate_median_ns, samples) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {id, position++, workload.workload, workload.repetitions, workload.effect, workload.incumbent_p90_ns,
         workload.candidate_p90_ns, workload.incumbent_median_ns, workload.candidate_median_ns, Value::blob(samples)});
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
  insert_judgement(self_->database, experiment);
  if (lesson) {
    Lesson own = *lesson;
    own.experiment = experiment.id;
    self_->add_lesson(own);
  }
  transaction.commit();
}

std::int64_t Journal::Implementation::add_lesson(const Lesson& lesson) {
  Transaction transaction(database);
  const std::int64_t id = database.insert(
      "INSERT INTO lesson (experiment, family, workload_class, machine, configuration, source_hash, incumbent,"
      " incumbent_source, techniques, verdict, speedup, text, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(lesson.experiment), lesson.family, lesson.workload_class, lesson.machine,
       configuration_row(lesson.configuration), lesson.source_hash, configuration_row(lesson.incumbent),
       lesson.incumbent_source_hash, encode(lesson.techniques), to_string(lesson.verdict), lesson.speedup, lesson.text,
       utc_now()});
  transaction.commit();
  return id;
}

std::int64_t Journal::add_lesson(const Lesson& lesson) {
  return self_->add_lesson(lesson);
}

// ---------------------------------------------------------------- certifications and sentinels

namespace {

void insert_clock(Database& database, std::int64_t certification, const ClockCoupling& clock,
                  const std::vector<SoloRun>& solo_runs) {
  const auto number = [&](double value) { return clock.missing.empty() ? Value(value) : Value(nullptr); };
  database.run(
      "INSERT INTO certification_clock (certification, missing, coupled, blocks, solo_run_s, confidence, time_effect,"
      " time_lower, time_upper, cycle_effect, clock_effect, clock_lower, clock_upper)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {certification, clock.missing, clock.coupled, clock.blocks, number(clock.solo_run_s), number(clock.confidence),
       number(clock.time_effect), number(clock.time_lower), number(clock.time_upper), number(clock.cycle_effect),
       number(clock.clock_effect), number(clock.clock_lower), number(clock.clock_upper)});
  int position = 0;
  for (const SoloRun& solo_run : solo_runs) {
    database.run(
        "INSERT INTO certification_solo_run (certification, position, workload, candidate, seconds, calls, mhz,"
        " readings) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {certification, position++, solo_run.workload, solo_run.candidate, solo_run.seconds, solo_run.calls,
         solo_run.mhz, solo_run.readings});
  }
}

}  // namespace

std::int64_t Journal::add_certification(const Certification& certification, const std::vector<Round>& rounds,
                                        const std::vector<SoloRun>& solo_runs) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO certification (campaign, incumbent, baseline, cache_policy, effect, lower, upper, rounds,"
      " claimed_effect, alarm, seconds, after_experiment, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
      " (SELECT coalesce(max(id), 0) FROM experiment WHERE campaign = ?), ?)",
      {certification.campaign, self_->configuration_row(certification.incumbent),
       self_->configuration_row(certification.baseline), to_string(certification.cache_policy), certification.effect,
       certification.lower, certification.upper, certification.rounds, certification.claimed_effect,
       certification.alarm, certification.seconds, certification.campaign, time_or_now(certification.at)});
  for (const Round& round : rounds) {
    self_->add_round(0, id, 0, round);
  }
  if (certification.clock) {
    insert_clock(self_->database, id, *certification.clock, solo_runs);
  }
  transaction.commit();
  return id;
}

std::int64_t Journal::add_sentinel(const SentinelRow& sentinel, const std::vector<Round>& rounds) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO sentinel (campaign, machine, configuration, effect, lower, upper, confidence, sd, p_value, rounds,"
      " alarm, preset, cache_policy, rule_version, seconds, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?)",
      {Value::reference(sentinel.campaign), self_->machine_row(sentinel.machine),
       self_->configuration_row(sentinel.configuration), sentinel.effect, sentinel.lower, sentinel.upper,
       sentinel.confidence, sentinel.sd, sentinel.p_value, sentinel.rounds, sentinel.alarm, sentinel.preset,
       to_string(sentinel.cache_policy), sentinel.rule_version, sentinel.seconds, time_or_now(sentinel.at)});
  for (const Round& round : rounds) {
    self_->add_round(0, 0, id, round);
  }
  transaction.commit();
  return id;
}

}  // namespace apo
