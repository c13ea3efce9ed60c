// journal/facts/commands.cpp - writes judgements of two commands as they run, and reads them.
#include <fmt/format.h>

#include <stdexcept>

#include "journal/encode.h"
#include "journal/implementation.h"

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

std::vector<Round> command_rounds(Database& database, std::int64_t comparison, bool higher_is_better) {
  std::vector<Round> rounds;
  Statement rows = database.query(
      "SELECT stage, idx, seed, b_first, runs, effect, void_why, seconds, environment FROM command_round"
      " WHERE comparison = ? ORDER BY position",
      {comparison});
  while (rows.step()) {
    Round round;
    const std::string stage = rows.text();
    round.stage = known(round_stage_from(stage), stage);
    round.index = rows.small();
    round.seed = rows.seed();
    round.candidate_in_slot0 = rows.boolean();
    round.commands = runs_of(decode_number_list(rows.text()), round.candidate_in_slot0, higher_is_better);
    round.effect = rows.real();
    round.void_why = rows.text();
    round.seconds = rows.real();
    decode_environment(rows.text(), round);
    rounds.push_back(std::move(round));
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

constexpr std::string_view kAsked =
    "SELECT c.id, purpose, m.key, command_a, command_b, folder, metric, higher_is_better, correct, margin,"
    " preset, layout, runs, timeout_s, budget_s, started_at FROM command_comparison c JOIN machine m ON m.id = "
    "c.machine";

CommandComparison next_asked(Statement& row) {
  CommandComparison comparison{.id = row.integer()};
  const std::string purpose = row.text();
  comparison.purpose = known(command_purpose_from(purpose), purpose);
  comparison.machine = row.text();
  comparison.command_a = row.text();
  comparison.command_b = row.text();
  comparison.folder = row.text();
  comparison.metric = row.text();
  comparison.higher_is_better = row.boolean();
  comparison.correct = row.text();
  comparison.margin = zero_if_absent(row.optional_real());
  comparison.judge = row.text();
  const std::string layout = row.text();
  comparison.layout = known(layout_from(layout), layout);
  comparison.runs = row.small();
  comparison.timeout_s = zero_if_absent(row.optional_real());
  comparison.budget_s = zero_if_absent(row.optional_real());
  comparison.started_at = row.text();
  return comparison;
}

std::vector<CommandComparison> read_all(Database& database, const std::string& condition,
                                        const std::vector<Value>& values, Detail detail) {
  std::vector<CommandComparison> all;
  Statement rows = database.query(std::string(kAsked) + condition + " ORDER BY c.id", values);
  while (rows.step()) {
    CommandComparison comparison = next_asked(rows);
    if (detail == Detail::rounds) {
      comparison.rounds = command_rounds(database, comparison.id, comparison.higher_is_better);
    }
    read_verdict(database, comparison);
    all.push_back(std::move(comparison));
  }
  return all;
}

}  // namespace

std::int64_t Journal::begin_command_comparison(const CommandComparison& comparison) {
  const bool gate = comparison.purpose == CommandPurpose::gate;
  return self_->database.insert(
      "INSERT INTO command_comparison (purpose, machine, command_a, command_b, folder, metric, higher_is_better, "
      "correct,"
      " margin, preset, layout, runs, timeout_s, budget_s, started_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {to_string(comparison.purpose), self_->machine_row(comparison.machine), comparison.command_a,
       comparison.command_b, comparison.folder, comparison.metric, comparison.higher_is_better, comparison.correct,
       gate ? Value(comparison.margin) : Value(nullptr), comparison.judge, to_string(comparison.layout),
       comparison.runs, positive(comparison.timeout_s), positive(comparison.budget_s),
       time_or_now(comparison.started_at)});
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
  std::vector<CommandComparison> found = read_all(self_->database, " WHERE c.id = ?", {id}, Detail::rounds);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison c{} of two commands in '{}'", id, self_->path.string()),
                    "'apo query --commands' lists them");
  }
  return std::move(found.front());
}

std::vector<CommandComparison> Journal::command_comparisons(const std::string& machine, Detail detail) {
  return read_all(self_->database, " WHERE ? IN ('', m.key)", {machine}, detail);
}

}  // namespace apo
