// journal/facts/commands.cpp - writes judgements of two commands as they run, and reads them.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "journal/columns.h"

namespace apo {
namespace {

Value positive(double value) {
  return value > 0 ? Value(value) : Value(nullptr);
}

double zero_if_absent(const std::optional<double>& value) {
  return value.value_or(0);
}

std::vector<double> values_of(const CommandRuns& runs) {
  std::vector<double> values;
  for (const CommandRun& run : runs.runs) {
    values.push_back(run.value);
  }
  return values;
}

// Which command each value is of follows from its place.
CommandRuns runs_of(const std::vector<double>& values, bool b_first, bool higher_is_better) {
  CommandRuns runs{.runs = {}, .higher_is_better = higher_is_better};
  for (std::size_t i = 0; i < values.size(); ++i) {
    runs.runs.push_back({.candidate = is_candidate_run(b_first, i), .value = values[i]});
  }
  return runs;
}

std::vector<Round> command_rounds(Journal::Implementation& self, const CommandComparison& comparison) {
  std::vector<Round> rounds;
  Statement rows = self.database.query(
      "SELECT runs, environment, stage, idx, seed, b_first, effect, void_why, seconds FROM command_round"
      " WHERE comparison = ? ORDER BY position",
      {comparison.id});
  while (rows.step()) {
    Round& round = rounds.emplace_back();
    std::vector<double> values;
    read_column(self, rows, values);
    const std::string environment = rows.text();
    read_row(self, rows, round);
    round.commands = runs_of(values, round.candidate_in_slot0, comparison.higher_is_better);
    decode_environment(environment, round);
  }
  return rounds;
}

void read_verdict(Database& database, CommandComparison& comparison) {
  Statement row = database.query(
      "SELECT outcome, verdict, reason, sentence, effect, lower, upper, confidence, rounds, processes, seconds,"
      " search_effect, alpha, minimum_detectable, minimum_claim, value_a, value_b, preset, rule_version,"
      " finished_at FROM command_verdict WHERE comparison = ?",
      {comparison.id});
  if (!row.step()) {
    return;
  }
  const bool gate = comparison.purpose == CommandPurpose::gate;
  Judgement judgement;
  const std::string outcome = row.text();
  comparison.outcome = known(outcome_from(outcome), outcome);
  const std::string verdict = row.text();
  const std::string reason = row.text();
  if (gate) {
    comparison.gate = known(gate_verdict_from(verdict), verdict);
  } else {
    judgement.verdict = known(verdict_from(verdict), verdict);
    judgement.reason = known(reason_from(reason), reason);
  }
  judgement.sentence = row.text();
  judgement.effect = row.real();
  judgement.lower = row.real();
  judgement.upper = row.real();
  judgement.confidence = zero_if_absent(row.optional_real());
  judgement.rounds = row.small();
  judgement.processes = row.small();
  judgement.samples = judgement.processes;
  judgement.seconds = row.real();
  judgement.search_effect = row.real();
  judgement.alpha = row.real();
  judgement.minimum_detectable = row.real();
  judgement.minimum_claim = row.real();
  comparison.value_a = zero_if_absent(row.optional_real());
  comparison.value_b = zero_if_absent(row.optional_real());
  judgement.preset = row.text();
  judgement.rule_version = row.text();
  comparison.finished_at = row.text();
  comparison.judgement = std::move(judgement);
}

std::vector<CommandComparison> read_all(Journal::Implementation& self, const std::string& condition,
                                        const std::vector<Value>& values, Detail detail) {
  std::vector<CommandComparison> all;
  Statement rows = self.database.query("SELECT c.id, m.key, " + columns_of<CommandComparison>("c.") +
                                           " FROM command_comparison c JOIN machine m ON m.id = c.machine" + condition +
                                           " ORDER BY c.id",
                                       values);
  while (rows.step()) {
    CommandComparison& comparison = all.emplace_back();
    comparison.id = rows.integer();
    comparison.machine = rows.text();
    read_row(self, rows, comparison);
    for (double* number : {&comparison.margin, &comparison.timeout_s, &comparison.budget_s}) {
      *number = std::isnan(*number) ? 0 : *number;
    }
    if (detail == Detail::rounds) {
      comparison.rounds = command_rounds(self, comparison);
    }
    read_verdict(self.database, comparison);
  }
  return all;
}

}  // namespace

std::int64_t Journal::begin_command_comparison(const CommandComparison& comparison) {
  const bool gate = comparison.purpose == CommandPurpose::gate;
  return insert_row(*self_, "command_comparison", comparison,
                    {{"machine", self_->machine_row(comparison.machine)},
                     {"margin", gate ? Value(comparison.margin) : Value(nullptr)},
                     {"timeout_s", positive(comparison.timeout_s)},
                     {"budget_s", positive(comparison.budget_s)},
                     {"started_at", time_or_now(comparison.started_at)}});
}

void Journal::add_command_round(std::int64_t comparison, const Round& round) {
  if (!round.commands) {
    throw std::logic_error("a round of kernels is no round of commands");
  }
  self_->database.run(
      "INSERT INTO command_round (comparison, position, stage, idx, seed, b_first, value_a, value_b, runs, effect,"
      " void_why, seconds, environment, at)"
      " VALUES (?, (SELECT count(*) FROM command_round WHERE comparison = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {comparison, comparison, to_string(round.stage), round.index, round.seed, round.candidate_in_slot0,
       round.commands->best(false), round.commands->best(true), encode(values_of(*round.commands)), round.effect,
       round.void_why, round.seconds, encode_environment(round), time_or_now("")});
}

void Journal::finish_command_comparison(const CommandComparison& comparison) {
  if (!comparison.judgement || (comparison.purpose == CommandPurpose::gate) != comparison.gate.has_value()) {
    throw std::logic_error("a comparison of commands is finished by its verdict");
  }
  const Judgement& judgement = *comparison.judgement;
  const bool timed = judgement.rounds > 0;
  const auto number = [&](double value) { return timed ? Value(value) : Value(nullptr); };
  self_->database.run(
      "INSERT INTO command_verdict (comparison, outcome, verdict, reason, sentence, effect, lower, upper, confidence,"
      " rounds, processes, seconds, search_effect, alpha, minimum_detectable, minimum_claim, value_a, value_b,"
      " preset, rule_version, speedup, speedup_lower, speedup_upper, finished_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {comparison.id,
       to_string(comparison.outcome),
       verdict_word(comparison),
       reason_word(comparison),
       judgement.sentence,
       number(judgement.effect),
       number(judgement.lower),
       number(judgement.upper),
       comparison.gate ? Value(nullptr) : number(judgement.confidence),
       judgement.rounds,
       judgement.processes,
       judgement.seconds,
       number(judgement.search_effect),
       number(judgement.alpha),
       number(judgement.minimum_detectable),
       number(judgement.minimum_claim),
       positive(comparison.value_a),
       positive(comparison.value_b),
       judgement.preset,
       judgement.rule_version,
       number(judgement.speedup()),
       number(judgement.speedup_lower()),
       number(judgement.speedup_upper()),
       time_or_now(comparison.finished_at)});
}

CommandComparison Journal::load_command_comparison(std::int64_t id) {
  std::vector<CommandComparison> found = read_all(*self_, " WHERE c.id = ?", {id}, Detail::rounds);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison c{} of two commands in '{}'", id, self_->path.string()),
                    "'apo query --commands' lists them");
  }
  return std::move(found.front());
}

std::vector<CommandComparison> Journal::command_comparisons(const std::string& machine, Detail detail) {
  return read_all(*self_, " WHERE ? IN ('', m.key)", {machine}, detail);
}

}  // namespace apo
