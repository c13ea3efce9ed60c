// journal/facts/comparisons.cpp - writes judgements of two commands, or of two dispatches by an application, as they
// run, and reads them.
#include <fmt/format.h>

#include <stdexcept>

#include "harness/core/json/codec.h"
#include "journal/columns.h"

namespace apo {
namespace {

void read_verdict(Journal::Implementation& self, ProgramComparison& comparison) {
  static const std::string query = "SELECT " + columns_of<Judgement>() +
                                   ", outcome, failed, gate, finished_at FROM comparison_verdict"
                                   " WHERE comparison = ?";
  Statement row = self.database.query(query, {comparison.id});
  if (!row.step()) {
    return;
  }
  read_row(self, row, comparison.judgement.emplace());
  read_column(self, row, comparison.outcome);
  read_column(self, row, comparison.failed);
  read_column(self, row, comparison.gate);
  comparison.finished_at = row.text();
  comparison.expectation =
      first_of(read_rows<Expectation>(self, "comparison_expectation WHERE comparison = ?", {comparison.id}));
  comparison.figures =
      read_rows<Figure>(self, "comparison_figure WHERE comparison = ? ORDER BY position", {comparison.id});
}

void read_rounds(Journal::Implementation& self, ProgramComparison& comparison) {
  comparison.rounds = self.rounds("comparison", comparison.id);
  for (Round& round : comparison.rounds) {
    round.commands->higher_is_better = comparison.commands.higher_is_better;
  }
  comparison.runs =
      read_rows<ApplicationRun>(self, "comparison_run WHERE comparison = ? ORDER BY position", {comparison.id});
}

// `condition` is one on the comparison c.
std::vector<ProgramComparison> read_all(Journal::Implementation& self, const std::string& condition,
                                        const std::vector<Value>& values, Detail detail) {
  std::vector<ProgramComparison> all;
  Statement rows =
      self.database.query("SELECT c.id, m.key, application, " + columns_of<ProgramComparison>("c.") +
                              " FROM comparison c JOIN machine m ON m.id = c.machine" + condition + " ORDER BY c.id",
                          values);
  while (rows.step()) {
    ProgramComparison& comparison = all.emplace_back();
    comparison.id = rows.integer();
    comparison.machine = rows.text();
    const std::string application = rows.text();
    read_row(self, rows, comparison);
    if (comparison.kind == ComparisonKind::commands) {
      comparison.commands =
          read_rows<CommandQuestion>(self, "comparison_commands WHERE comparison = ?", {comparison.id}).at(0);
    } else {
      comparison.application = from_json_text<DeclaredApplication>(application);
    }
    comparison.margin = comparison.purpose == ComparisonPurpose::gate ? comparison.margin : 0;
    read_verdict(self, comparison);
    if (detail == Detail::rounds) {
      read_rounds(self, comparison);
    }
  }
  return all;
}

}  // namespace

std::int64_t Journal::begin_comparison(const ProgramComparison& comparison) {
  const bool gate = comparison.purpose == ComparisonPurpose::gate;
  const bool commands = comparison.kind == ComparisonKind::commands;
  const std::string application = json_text(comparison.application);
  Transaction transaction(self_->database);
  const std::int64_t id = insert_row(*self_, "comparison", comparison,
                                     {{"campaign", Value::reference(comparison.campaign)},
                                      {"machine", self_->machine_row(comparison.machine)},
                                      {"margin", gate ? Value(comparison.margin) : Value(nullptr)},
                                      {"application", commands ? Value(nullptr) : Value(application)},
                                      {"started_at", time_or_now(comparison.started_at)}});
  if (commands) {
    insert_row(*self_, "comparison_commands", comparison.commands, {{"comparison", id}});
  }
  transaction.commit();
  return id;
}

void Journal::add_comparison_round(std::int64_t comparison, const Round& round) {
  if (!round.commands) {
    throw std::logic_error("a round of kernels is no round of commands");
  }
  self_->add_round("comparison", comparison, round);
}

void Journal::add_comparison_run(std::int64_t comparison, const ApplicationRun& run) {
  Transaction transaction(self_->database);
  const std::vector<std::int64_t> before =
      self_->database.integers("SELECT count(*) FROM comparison_run WHERE comparison = ?", {comparison});
  insert_row(*self_, "comparison_run", run,
             {{"comparison", comparison}, {"position", before.front()}, {"at", utc_now()}});
  transaction.commit();
}

void Journal::finish_comparison(const ProgramComparison& comparison) {
  if (!comparison.judgement || (comparison.purpose == ComparisonPurpose::gate) != comparison.gate.has_value()) {
    throw std::logic_error("a comparison is finished by its verdict");
  }
  Transaction transaction(self_->database);
  if (comparison.expectation) {
    insert_row(*self_, "comparison_expectation", *comparison.expectation,
               {{"comparison", comparison.id}, {"profile", Value::reference(comparison.expectation->profile)}});
  }
  insert_rows(*self_, "comparison_figure", comparison.figures, {{"comparison", comparison.id}});
  insert_row(*self_, "comparison_verdict", *comparison.judgement,
             {{"comparison", comparison.id},
              {"outcome", to_string(comparison.outcome)},
              {"failed", comparison.failed ? Value(to_string(*comparison.failed)) : Value(nullptr)},
              {"gate", comparison.gate ? Value(to_string(*comparison.gate)) : Value(nullptr)},
              {"finished_at", time_or_now(comparison.finished_at)}});
  transaction.commit();
}

ProgramComparison Journal::load_comparison(std::int64_t id) {
  std::vector<ProgramComparison> found = read_all(*self_, " WHERE c.id = ?", {id}, Detail::rounds);
  if (found.empty()) {
    throw UserError(fmt::format("there is no comparison c{} in '{}'", id, self_->path.string()),
                    "'apo query --sql \"SELECT id, verdict, sentence FROM comparisons\"' lists them");
  }
  return std::move(found.front());
}

std::vector<ProgramComparison> Journal::comparisons(Detail detail) {
  return read_all(*self_, "", {}, detail);
}

}  // namespace apo
