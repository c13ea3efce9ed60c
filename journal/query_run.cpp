// journal/query_run.cpp - turns a query into one SELECT with bound values, and runs it.
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/queries.h"
#include "journal/query_keys.h"

namespace apo {
namespace {

const std::vector<std::string> kDefaultColumns = {"id",        "campaign", "workload", "candidate",
                                                  "incumbent", "outcome",  "verdict",  "reason",
                                                  "speedup",   "lower",    "upper",    "state"};

struct Sql {
  std::string text;
  std::vector<Value> values;  // point into the query
};

Value bound(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return *integer;
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return *real;
  }
  return std::get<std::string>(cell);
}

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

// "column OP any of the values"; unequal is left to the caller's NOT.
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

// The experiments whose candidate has a resource or a metric of that name and value.
std::string metric_condition(const Predicate& predicate, const Cell& name, std::vector<Value>& values) {
  values.push_back(bound(name));
  const std::string resource = comparison("value", predicate, values);
  values.push_back(bound(name));
  const std::string metric = comparison("mt.value", predicate, values);
  return "id IN (SELECT experiment FROM build_resource WHERE role = 'candidate' AND name = ? AND " + resource +
         " UNION ALL SELECT x.id FROM metric mt JOIN profile p ON p.id = mt.profile"
         " JOIN experiment x ON x.candidate = p.configuration AND x.machine = p.machine"
         " AND (p.source IS NULL OR p.source = x.candidate_source) WHERE mt.name = ? AND " +
         metric + ")";
}

std::string condition(const KeySpec& spec, const Predicate& predicate, std::vector<Value>& values) {
  const std::string column(spec.column);
  switch (spec.kind) {
    case KeyKind::workload: {
      const std::string of_class = comparison("x.workload_class", predicate, values);
      const std::string one = comparison("workload", predicate, values);
      return "id IN (SELECT x.id FROM experiment x WHERE " + of_class +
             " UNION ALL SELECT experiment FROM experiment_workload WHERE " + one + ")";
    }
    case KeyKind::technique:
      return "id IN (SELECT experiment FROM experiment_technique WHERE " + comparison("technique", predicate, values) +
             ")";
    case KeyKind::machine: {
      const std::string model = comparison("machine", predicate, values);
      return std::string("(")
          .append(model)
          .append(" OR ")
          .append(comparison("machine_id", predicate, values))
          .append(")");
    }
    case KeyKind::since:
      values.push_back(bound(predicate.values.front()));
      return column + " >= ?";
    case KeyKind::until:
      values.push_back(bound(predicate.values.front()));
      return column + " <= ?";
    case KeyKind::plain:
      break;
  }
  return comparison(column, predicate, values);
}

void add_conditions(Sql& sql, const Query& query, const std::vector<Cell>& metric_names) {
  std::vector<std::string> parts;
  std::size_t next_metric = 0;
  for (const Predicate& predicate : query.where) {
    const bool metric = predicate.key.starts_with(kMetricPrefix);
    const bool negated = predicate.operation == Operator::unequal;
    std::string part = metric ? metric_condition(predicate, metric_names[next_metric++], sql.values)
                              : condition(*find_key(predicate.key), predicate, sql.values);
    parts.push_back(negated ? "NOT (" + part + ")" : part);
  }
  if (!query.sort.empty()) {
    // Says that there is a value, in a form from which SQLite sees that it may start at that column's index.
    const KeySpec& first = *find_key(query.sort.front().column);
    parts.push_back(std::string(first.column) + (first.key.type == ColumnType::text ? " >= ''" : " >= -9e999"));
  }
  if (!parts.empty()) {
    sql.text += " WHERE " + join(parts, " AND ");
  }
}

void add_order(Sql& sql, const Query& query) {
  std::vector<std::string> parts;
  bool by_id = false;
  for (const SortKey& key : query.sort) {
    parts.push_back(std::string(find_key(key.column)->column) + (key.descending ? " DESC" : ""));
    by_id = by_id || key.column == "id";
  }
  if (!by_id) {
    const bool ascending = !query.sort.empty() && !query.sort.front().descending;
    parts.push_back(ascending ? "id" : "id DESC");
  }
  sql.text += " ORDER BY " + join(parts, ", ");
}

std::vector<std::string> selected(const Query& query) {
  return query.columns.empty() ? kDefaultColumns : query.columns;
}

Sql to_sql(const Query& query, const std::vector<Cell>& metric_names) {
  std::vector<std::string> columns;
  for (const std::string& name : selected(query)) {
    columns.emplace_back(find_key(name)->column);
  }
  Sql sql{"SELECT " + join(columns, ", ") + " FROM experiments", {}};
  add_conditions(sql, query, metric_names);
  add_order(sql, query);
  if (query.limit > 0) {
    sql.text += " LIMIT ?";
    sql.values.emplace_back(query.limit + 1);  // one more tells whether the limit cut anything
  }
  return sql;
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

Table run_query(Journal& journal, const Query& query) {
  Table table;
  for (const std::string& name : selected(query)) {
    table.columns.push_back({name, find_key(name)->key.type});
  }
  const std::vector<Cell> names = metric_names(query);
  const Sql sql = to_sql(query, names);
  Statement rows = journal.implementation().database.query(sql.text, sql.values);
  while (rows.step()) {
    if (query.limit > 0 && table.rows.size() == static_cast<std::size_t>(query.limit)) {
      table.more = true;
      break;
    }
    std::vector<Cell> cells;
    for (const Column& column : table.columns) {
      cells.push_back(next_cell(rows, column.type));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> explain_query(Journal& journal, const Query& query) {
  const std::vector<Cell> names = metric_names(query);
  const Sql sql = to_sql(query, names);
  std::vector<std::string> steps;
  Statement rows = journal.implementation().database.query("EXPLAIN QUERY PLAN " + sql.text, sql.values);
  while (rows.step()) {
    rows.integer();
    rows.integer();
    rows.integer();
    steps.push_back(rows.text());
  }
  return steps;
}

}  // namespace apo
