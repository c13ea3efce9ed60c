// journal/query/query_run.cpp - turns a query into one SELECT with bound values, and runs it.
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/query/query_keys.h"

namespace apo {
namespace {

// Points into the cell.
Value bound(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return *integer;
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return *real;
  }
  return std::get<std::string>(cell);
}

// "COLUMN OP any of the values", which are added to `values`; unequal is left to the caller's NOT.
std::string comparison(std::string_view column, const Predicate& predicate, std::vector<Value>& values) {
  for (const Cell& value : predicate.values) {
    values.push_back(bound(value));
  }
  if (predicate.operation == Operator::contains) {
    const std::vector<std::string> parts(predicate.values.size(),
                                         fmt::format("instr(lower({}), lower(?)) > 0", column));
    return "(" + join(parts, " OR ") + ")";
  }
  if (predicate.values.size() == 1) {
    const bool unequal = predicate.operation == Operator::unequal;
    return fmt::format("{} {} ?", column, unequal ? "=" : to_string(predicate.operation));
  }
  return fmt::format("{} IN ({})", column, join(std::vector<std::string>(predicate.values.size(), "?"), ", "));
}

std::string membership(const KeySpec& spec, const Predicate& predicate, std::vector<Value>& values) {
  std::vector<std::string> selects;
  for (const std::string_view select : spec.members) {
    const std::size_t column = select.rfind(' ') + 1;
    if (predicate.key.starts_with(kMetricPrefix)) {
      values.emplace_back(std::string_view(predicate.key).substr(kMetricPrefix.size()));
    }
    selects.push_back(std::string(select.substr(0, column)) + comparison(select.substr(column), predicate, values));
  }
  return "id IN (" + join(selects, " UNION ALL ") + ")";
}

const KeySpec& known_key(const std::string& name) {
  const KeySpec* spec = find_key(name);
  APO_CHECK(spec != nullptr);  // parse_query() asked for it
  return *spec;
}

std::string condition(const Predicate& predicate, std::vector<Value>& values) {
  const KeySpec& spec = known_key(predicate.key);
  if (is_date_bound(spec)) {
    values.push_back(bound(predicate.values.front()));
    return std::string(spec.column) + (spec.key.name == "since" ? " >= ?" : " <= ?");
  }
  std::string text =
      spec.members.empty() ? comparison(spec.column, predicate, values) : membership(spec, predicate, values);
  if (!spec.also.empty()) {
    text += " OR " + comparison(spec.also, predicate, values);
  }
  return predicate.operation == Operator::unequal ? "NOT (" + text + ")" : "(" + text + ")";
}

// Says that there is a value, in a form from which SQLite sees that it may start at an index of the joined table.
std::string has_value(const KeySpec& spec) {
  return std::string(spec.column) + (spec.key.type == ColumnType::text ? " >= ''" : " >= -9e999");
}

// The sign keeps SQLite from reading all rows in the order of some index because it ends with the id.
std::string order_of(const Query& query) {
  if (query.sort.empty()) {
    return "id DESC";
  }
  std::vector<std::string> parts;
  for (const SortKey& key : query.sort) {
    parts.push_back(std::string(known_key(key.column).column) + (key.descending ? " DESC" : ""));
  }
  parts.emplace_back(query.sort.front().descending ? "+id DESC" : "+id");
  return join(parts, ", ");
}

}  // namespace

// The inner SELECT finds the ids by few columns; only for those that are shown the others are put together.
Table run_query(Journal& journal, const Query& query) {
  Table table{.columns = query.columns};
  if (table.columns.empty()) {
    table.columns = {"id",      "campaign", "workload", "candidate", "incumbent", "outcome",
                     "verdict", "reason",   "speedup",  "lower",     "upper",     "state"};
  }
  std::vector<std::string_view> expressions;
  for (const std::string& name : table.columns) {
    expressions.push_back(known_key(name).column);
  }
  std::vector<Value> values;
  std::vector<std::string> conditions = {"1"};
  for (const Predicate& predicate : query.where) {
    conditions.push_back(condition(predicate, values));
  }
  if (!query.sort.empty()) {
    conditions.push_back(has_value(known_key(query.sort.front().column)));
  }
  const std::string sql = fmt::format(
      "SELECT {0} FROM experiments WHERE id IN (SELECT id FROM experiments WHERE {1} ORDER BY {2} LIMIT {3}) "
      "ORDER BY {2}",
      fmt::join(expressions, ", "), fmt::join(conditions, " AND "), order_of(query),
      query.limit > 0 ? query.limit + 1 : -1);  // one more tells whether the limit cut any off
  Statement rows = database_of(journal).query(sql, values);
  add_rows(table, rows.handle(), static_cast<std::size_t>(query.limit > 0 ? query.limit : -1),
           [&] { return rows.step(); });
  return table;
}

}  // namespace apo
