// journal/facts/comparisons.cpp - writes judgements of two commands, or of two dispatches by an application, as they
// run, and reads them.
#include "journal/facts/comparisons.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/core/json/codec.h"
#include "journal/columns.h"

namespace apo {
namespace {

void read_verdict(Journal& journal, ProgramComparison& comparison) {
  static const std::string query = "SELECT " + columns_of<Judgement>() +
                                   ", outcome, failed, gate, finished_at FROM comparison_verdict"
                                   " WHERE comparison = ?";
  Statement row = database_of(journal).query(query, {comparison.id});
  if (!row.step()) {
    return;
  }
  read_row(journal, row, comparison.judgement.emplace());
  comparison.alpha = comparison.judgement->alpha > 0 ? comparison.judgement->alpha : comparison.alpha;
  read_column(journal, row, comparison.outcome);
  read_column(journal, row, comparison.failed);
  read_column(journal, row, comparison.gate);
  comparison.finished_at = row.text();
  comparison.figures =
      read_rows<Figure>(journal, "comparison_figure WHERE comparison = ? ORDER BY position", {comparison.id});
}

void read_rounds(Journal& journal, ProgramComparison& comparison) {
  comparison.rounds = rounds_of(journal, "comparison", comparison.id);
  for (Round& round : comparison.rounds) {
    round.commands->higher_is_better = comparison.commands.higher_is_better;
  }
  comparison.runs =
      read_rows<ApplicationRun>(journal, "comparison_run WHERE comparison = ? ORDER BY position", {comparison.id});
}

// `condition` is one on the comparison c.
std::vector<ProgramComparison> read_all(Journal& journal, const std::string& condition,
                                        const std::vector<Value>& values, Detail detail) {
  std::vector<ProgramComparison> all;
  Statement rows = database_of(journal).query(
      "SELECT c.id, m.key, application, " + columns_of<ProgramComparison>("c.") +
          " FROM comparison c JOIN machine m ON m.id = c.machine" + condition + " ORDER BY c.id",
      values);
  while (rows.step()) {
    ProgramComparison& comparison = all.emplace_back();
    comparison.id = rows.integer();
    comparison.machine = rows.text();
    const std::string application = rows.text();
    read_row(journal, rows, comparison);
    if (comparison.kind == ComparisonKind::commands) {
      comparison.commands =
          read_rows<CommandQuestion>(journal, "comparison_commands WHERE comparison = ?", {comparison.id}).at(0);
    } else {
      comparison.application = from_json_text<DeclaredApplication>(application);
    }
    comparison.margin = comparison.purpose == ComparisonPurpose::gate ? comparison.margin : 0;
    read_verdict(journal, comparison);
    if (detail == Detail::rounds) {
      read_rounds(journal, comparison);
    }
  }
  return all;
}

}  // namespace

std::int64_t begin_comparison(Journal& journal, const ProgramComparison& comparison) {
  const bool gate = comparison.purpose == ComparisonPurpose::gate;
  const bool commands = comparison.kind == ComparisonKind::commands;
  const std::string application = json_text(comparison.application);
  Transaction transaction(database_of(journal));
  const std::int64_t id = insert_row(journal, "comparison", comparison,
                                     {{"campaign", Value::reference(comparison.campaign)},
                                      {"machine", machine_row(journal, comparison.machine)},
                                      {"margin", gate ? Value(comparison.margin) : Value(nullptr)},
                                      {"application", commands ? Value(nullptr) : Value(application)},
                                      {"started_at", time_or_now(comparison.started_at)}});
  if (commands) {
    insert_row(journal, "comparison_commands", comparison.commands, {{"comparison", id}});
  }
  take(journal, Task::comparison, id);
  transaction.commit();
  return id;
}

void add_comparison_round(Journal& journal, std::int64_t comparison, const Round& round) {
  if (!round.commands) {
    throw std::logic_error("a round of kernels is no round of commands");
  }
  add_round_of(journal, "comparison", comparison, round);
}

void add_comparison_run(Journal& journal, std::int64_t comparison, const ApplicationRun& run) {
  Transaction transaction(database_of(journal));
  const std::vector<std::int64_t> before =
      database_of(journal).integers("SELECT count(*) FROM comparison_run WHERE comparison = ?", {comparison});
  insert_row(journal, "comparison_run", run,
             {{"comparison", comparison}, {"position", before.front()}, {"at", utc_now()}});
  transaction.commit();
}

void finish_comparison(Journal& journal, const ProgramComparison& comparison) {
  if (!comparison.judgement || (comparison.purpose == ComparisonPurpose::gate) != comparison.gate.has_value()) {
    throw std::logic_error("a comparison is finished by its verdict");
  }
  Transaction transaction(database_of(journal));
  insert_rows(journal, "comparison_figure", comparison.figures, {{"comparison", comparison.id}});
  insert_row(journal, "comparison_verdict", *comparison.judgement,
             {{"comparison", comparison.id},
              {"outcome", to_string(comparison.outcome)},
              {"failed", comparison.failed ? Value(to_string(*comparison.failed)) : Value(nullptr)},
              {"gate", comparison.gate ? Value(to_string(*comparison.gate)) : Value(nullptr)},
              {"finished_at", time_or_now(comparison.finished_at)}});
  transaction.commit();
}

ProgramComparison load_comparison(Journal& journal, std::int64_t id) {
  std::vector<ProgramComparison> found = read_all(journal, " WHERE c.id = ?", {id}, Detail::rounds);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison c{} in '{}'", id, journal.path().string()),
                    "'apo query --sql \"SELECT id, verdict, sentence FROM comparisons\"' lists them");
  }
  return std::move(found.front());
}

std::vector<ProgramComparison> all_comparisons(Journal& journal, Detail detail) {
  return read_all(journal, "", {}, detail);
}

}  // namespace apo
