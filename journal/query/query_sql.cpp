// journal/query/query_sql.cpp - converts cells to values and operators to SQL, and back.
#include "journal/query/query_sql.h"

#include "harness/core/text.h"
#include "journal/query/query_keys.h"

namespace apo {
namespace {

std::string_view sign(Operator operation) {
  switch (operation) {
    case Operator::less:
      return " < ?";
    case Operator::less_equal:
      return " <= ?";
    case Operator::greater:
      return " > ?";
    case Operator::greater_equal:
      return " >= ?";
    default:
      return " = ?";
  }
}

Cell next_cell(Statement& row, ColumnType type) {
  if (row.next_is_null()) {
    row.text();
    return std::monostate();
  }
  switch (type) {
    case ColumnType::integer:
      return row.integer();
    case ColumnType::real:
      return row.real();
    case ColumnType::text:
      break;
  }
  return row.text();
}

}  // namespace

Value bound(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return *integer;
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return *real;
  }
  return std::get<std::string>(cell);
}

std::string comparison(const std::string& column, const Predicate& predicate, std::vector<Value>& values) {
  for (const Cell& value : predicate.values) {
    values.push_back(bound(value));
  }
  if (predicate.operation == Operator::contains) {
    std::vector<std::string> parts(predicate.values.size(), "instr(lower(" + column + "), lower(?)) > 0");
    return std::string("(").append(join(parts, " OR ")).append(")");
  }
  if (predicate.values.size() == 1) {
    return column + std::string(sign(predicate.operation));
  }
  return column + " IN (" + join(std::vector<std::string>(predicate.values.size(), "?"), ", ") + ")";
}

std::vector<Cell> metric_names(const Query& query) {
  std::vector<Cell> names;
  for (const Predicate& predicate : query.where) {
    if (predicate.key.starts_with(kMetricPrefix)) {
      names.emplace_back(predicate.key.substr(kMetricPrefix.size()));
    }
  }
  return names;
}

void add_rows(Table& table, Statement& rows, std::int64_t limit) {
  while (rows.step()) {
    if (limit > 0 && table.rows.size() == static_cast<std::size_t>(limit)) {
      table.more = true;
      break;
    }
    std::vector<Cell> cells;
    for (const Column& column : table.columns) {
      cells.push_back(next_cell(rows, column.type));
    }
    table.rows.push_back(std::move(cells));
  }
}

}  // namespace apo
