// journal/facts/memory/hand_kept.cpp - imports of hand-kept journals, in tables of their own.
#include "harness/core/hand_kept/hand_kept.h"

#include <cmath>

#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

Value bound_of(const StatedNumber& number, double bound) {
  return number.text.empty() ? Value(nullptr) : Value(bound);
}

StatedNumber next_number(Statement& row) {
  StatedNumber number{.low = row.real(), .high = row.real(), .text = row.text()};
  return number.text.empty() ? StatedNumber() : number;
}

void insert_row(Database& database, std::int64_t journal, int position, const HandKeptRow& row) {
  const std::optional<StatedBand> effect = measured_effect(row);
  const auto real = [&](double value) { return effect ? Value(value) : Value(nullptr); };
  const StatedBand band = effect.value_or(StatedBand());
  const std::string axes = encode(row.axes);
  const std::string techniques = encode(row.techniques);
  database.run(
      "INSERT INTO hand_kept_row (journal, position, line, date, device_claimed, device_deduced, target, scope,"
      " subject, axes, techniques, joint, baseline, quantity, unit, before_low, before_high, before_text, after_low,"
      " after_high, after_text, change_low, change_high, change_text, predicted_low, predicted_high, predicted_text,"
      " predicted_scope, samples, warm_up, verdict, in_code, superseded_by, note, effect_low, effect_high, speedup)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
      " ?, ?, ?, ?)",
      {journal,
       position,
       row.line,
       row.date,
       row.device_claimed,
       row.device_deduced,
       row.target ? to_string(*row.target) : std::string_view(),
       to_string(row.scope),
       row.subject,
       axes,
       techniques,
       row.joint,
       row.baseline,
       to_string(row.quantity),
       row.unit,
       bound_of(row.before, row.before.low),
       bound_of(row.before, row.before.high),
       row.before.text,
       bound_of(row.after, row.after.low),
       bound_of(row.after, row.after.high),
       row.after.text,
       bound_of(row.change, row.change.low),
       bound_of(row.change, row.change.high),
       row.change.text,
       bound_of(row.predicted, row.predicted.low),
       bound_of(row.predicted, row.predicted.high),
       row.predicted.text,
       to_string(row.predicted_scope),
       Value::reference(row.samples),
       row.warm_up,
       row.verdict ? to_string(*row.verdict) : std::string_view(),
       row.in_code ? Value(*row.in_code) : Value(nullptr),
       Value::reference(row.superseded_by),
       row.note,
       real(band.low),
       real(band.high),
       real(std::exp(middle(band)))});
}

HandKeptRow next_row(Statement& row) {
  HandKeptRow read{.line = row.small()};
  read.date = row.text();
  read.device_claimed = row.text();
  read.device_deduced = row.text();
  if (const std::string target = row.text(); !target.empty()) {
    read.target = target_from(target);
  }
  const std::string scope = row.text();
  read.scope = known(hand_kept_scope_from(scope), scope);
  read.subject = row.text();
  read.axes = decode_settings(row.text());
  read.techniques = decode_list(row.text());
  read.joint = row.boolean();
  read.baseline = row.text();
  const std::string quantity = row.text();
  read.quantity = known(hand_kept_quantity_from(quantity), quantity);
  read.unit = row.text();
  read.before = next_number(row);
  read.after = next_number(row);
  read.change = next_number(row);
  read.predicted = next_number(row);
  const std::string predicted_scope = row.text();
  read.predicted_scope = known(hand_kept_scope_from(predicted_scope), predicted_scope);
  read.samples = row.integer();
  read.warm_up = row.text();
  if (const std::string verdict = row.text(); !verdict.empty()) {
    read.verdict = known(verdict_from(verdict), verdict);
  }
  if (row.next_is_null()) {
    row.text();
  } else {
    read.in_code = row.boolean();
  }
  read.superseded_by = row.small();
  read.note = row.text();
  return read;
}

std::vector<HandKeptRow> rows_of(Database& database, std::int64_t journal) {
  std::vector<HandKeptRow> read;
  Statement rows = database.query(
      "SELECT line, date, device_claimed, device_deduced, target, scope, subject, axes, techniques, joint, baseline, "
      "quantity,"
      " unit, before_low, before_high, before_text, after_low, after_high, after_text, change_low, change_high,"
      " change_text, predicted_low, predicted_high, predicted_text, predicted_scope, samples, warm_up, verdict, "
      "in_code,"
      " superseded_by, note FROM hand_kept_row WHERE journal = ? ORDER BY position",
      {journal});
  while (rows.step()) {
    read.push_back(next_row(rows));
  }
  return read;
}

}  // namespace

std::int64_t Journal::add_hand_kept(const HandKeptJournal& journal) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert("INSERT INTO hand_kept_journal (title, sha256, at) VALUES (?, ?, ?)",
                                                 {journal.title, journal.sha256, time_or_now(journal.at)});
  int position = 0;
  for (const HandKeptRow& row : journal.rows) {
    insert_row(self_->database, id, position++, row);
  }
  transaction.commit();
  return id;
}

std::vector<HandKeptJournal> Journal::hand_kept() {
  std::vector<HandKeptJournal> journals;
  Statement rows =
      self_->database.query("SELECT max(id), title, sha256, at FROM hand_kept_journal GROUP BY title ORDER BY max(id)");
  while (rows.step()) {
    HandKeptJournal journal{.id = rows.integer()};
    journal.title = rows.text();
    journal.sha256 = rows.text();
    journal.at = rows.text();
    journal.rows = rows_of(self_->database, journal.id);
    journals.push_back(std::move(journal));
  }
  return journals;
}

}  // namespace apo
