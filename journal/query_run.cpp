// journal/query_run.cpp - turns a query into one SELECT with bound values, and runs it.
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/queries.h"
#include "journal/query_keys.h"
#include "journal/query_sql.h"

namespace apo {
namespace {

const std::vector<std::string> kDefaultColumns = {"id",        "campaign", "workload", "candidate",
                                                  "incumbent", "outcome",  "verdict",  "reason",
                                                  "speedup",   "lower",    "upper",    "state"};

struct Sql {
  std::string text;
  std::vector<Value> values;  // point into the query
  bool sorts = false;         // few rows are found and then sorted
};

// One predicate in two forms with the same values. `finds` lets SQLite start at an index and sort what it finds;
// `tests` looks at a row that the order of the answer has led to. Which is fast depends on how many rows there are:
// `probe` counts them, and is empty where no index can find them.
struct Condition {
  std::string finds;
  std::string tests;
  std::string probe;
  std::vector<Value> values;
  std::vector<Value> probed;  // the values of `probe`, where they are not all
};

// The experiments whose candidate has a resource or a metric of that name and value. `metric` is there in both forms:
// profiles are few.
Condition metric_condition(const Predicate& predicate, const Cell& name) {
  Condition condition;
  condition.values.push_back(bound(name));
  const std::string of_resource =
      "role = 'candidate' AND name = ? AND " + comparison("value", predicate, condition.values);
  condition.values.push_back(bound(name));
  const std::string of_metric =
      "SELECT x.id FROM metric mt JOIN profile p ON p.id = mt.profile"
      " JOIN experiment x ON x.candidate = p.configuration AND x.machine = p.machine"
      " AND (p.source IS NULL OR p.source = x.candidate_source) WHERE mt.name = ? AND " +
      comparison("mt.value", predicate, condition.values);
  const std::string resources = "SELECT experiment FROM build_resource WHERE " + of_resource;
  condition.finds = "id IN (" + resources + " UNION ALL " + of_metric + ")";
  condition.tests = "(EXISTS (SELECT 1 FROM build_resource WHERE experiment = experiments.id AND " + of_resource +
                    ") OR id IN (" + of_metric + "))";
  condition.probe = resources;
  condition.probed.assign(condition.values.begin(),
                          condition.values.begin() + 1 + static_cast<std::ptrdiff_t>(predicate.values.size()));
  return condition;
}

// Where the rows of a column of the view are found by an index: "FROM ... WHERE COLUMN"; "" where there is none.
std::string indexed(std::string_view column) {
  static const std::map<std::string_view, std::string> kIndexed = {
      {"id", "experiment WHERE id"},
      {"verdict", "judgement WHERE verdict"},
      {"reason", "judgement WHERE reason"},
      {"outcome", "judgement WHERE outcome"},
      {"speedup", "judgement WHERE speedup"},
      {"campaign", "experiment WHERE campaign"},
      {"iteration", "experiment WHERE iteration"},
      {"family", "experiment WHERE family"},
      {"workload_class", "experiment WHERE workload_class"},
      {"source_hash", "experiment WHERE candidate_source"},
      {"started_at", "experiment WHERE started_at"},
      {"code_hash", "build WHERE role = 'candidate' AND code_hash"},
      {"variant", "configuration c CROSS JOIN experiment x ON x.candidate = c.id WHERE c.variant"},
      {"candidate", "configuration c CROSS JOIN experiment x ON x.candidate = c.id WHERE c.label"},
  };
  const auto found = kIndexed.find(column);
  return found == kIndexed.end() ? "" : found->second;
}

Condition plain_condition(const std::string& column, const Predicate& predicate, std::string_view compared_by) {
  Condition condition;
  std::vector<Value> again;
  const auto compare = [&](const std::string& what, std::vector<Value>& values) {
    if (compared_by.empty()) {
      return comparison(what, predicate, values);
    }
    values.push_back(bound(predicate.values.front()));
    return what + std::string(compared_by);
  };
  condition.finds = compare(column, condition.values);
  condition.tests = compare("+" + column, again);  // the sign keeps SQLite from the column's index
  const std::string source = indexed(column);
  if (!source.empty() && predicate.operation != Operator::contains) {
    const std::size_t last = source.rfind(' ') + 1;
    condition.probe = "SELECT 1 FROM " + source.substr(0, last) + compare(source.substr(last), again);
  }
  return condition;
}

Condition condition_of(const KeySpec& spec, const Predicate& predicate) {
  Condition condition;
  std::vector<Value>& values = condition.values;
  switch (spec.kind) {
    case KeyKind::workload: {
      const std::string of_class = comparison("workload_class", predicate, values);
      const std::string one = comparison("workload", predicate, values);
      const std::string found = " FROM experiment x WHERE x." + of_class;
      condition.finds =
          "id IN (SELECT x.id" + found + " UNION ALL SELECT experiment FROM experiment_workload WHERE " + one + ")";
      condition.tests = "(+" + of_class +
                        " OR EXISTS (SELECT 1 FROM experiment_workload WHERE experiment = experiments.id AND " + one +
                        "))";
      condition.probe = "SELECT 1" + found + " UNION ALL SELECT 1 FROM experiment_workload WHERE " + one;
      return condition;
    }
    case KeyKind::technique: {
      const std::string found = " FROM experiment_technique WHERE " + comparison("technique", predicate, values);
      condition.finds = "id IN (SELECT experiment" + found + ")";
      condition.tests = "EXISTS (SELECT 1" + found + " AND experiment = experiments.id)";
      condition.probe = "SELECT 1" + found;
      return condition;
    }
    case KeyKind::machine: {
      const std::string model = comparison("machine", predicate, values);
      condition.finds = "(" + model + " OR " + comparison("machine_id", predicate, values) + ")";
      condition.tests = condition.finds;
      return condition;
    }
    case KeyKind::since:
      return plain_condition(std::string(spec.column), predicate, " >= ?");
    case KeyKind::until:
      return plain_condition(std::string(spec.column), predicate, " <= ?");
    case KeyKind::plain:
      break;
  }
  return plain_condition(std::string(spec.column), predicate, "");
}

// Up to this many rows are found and sorted in milliseconds; where there are more, the first ones that pass are met
// soon enough by walking in the order of the answer.
constexpr int kFewRows = 3000;

bool are_few(Database& database, const Condition& condition) {
  if (condition.probe.empty()) {
    return false;
  }
  std::vector<Value> values = condition.probed.empty() ? condition.values : condition.probed;
  values.emplace_back(kFewRows + 1);
  Statement row = database.query("SELECT count(*) FROM (" + condition.probe + " LIMIT ?)", values);
  row.step();
  return row.integer() <= kFewRows;
}

void add_conditions(Database& database, Sql& sql, const Query& query, const std::vector<Cell>& metric_names) {
  std::vector<std::string> parts;
  std::size_t next_metric = 0;
  for (const Predicate& predicate : query.where) {
    const bool metric = predicate.key.starts_with(kMetricPrefix);
    const bool negated = predicate.operation == Operator::unequal;
    const bool leads = !query.sort.empty() && predicate.key == query.sort.front().column;
    const Condition one = metric ? metric_condition(predicate, metric_names[next_metric++])
                                 : condition_of(*find_key(predicate.key), predicate);
    sql.values.insert(sql.values.end(), one.values.begin(), one.values.end());
    if (negated) {
      parts.push_back("NOT (" + one.tests + ")");
      continue;
    }
    const bool few = are_few(database, one);
    sql.sorts = sql.sorts || (few && !leads);
    // Without a limit every row is wanted, so the order leads nowhere sooner.
    parts.push_back(query.limit == 0 || leads || few ? one.finds : one.tests);
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
    // The sign keeps SQLite from walking all rows in this order where few are found otherwise.
    parts.push_back(std::string(sql.sorts ? "+id" : "id") + (ascending ? "" : " DESC"));
  }
  sql.text += " ORDER BY " + join(parts, ", ");
}

std::vector<std::string> selected(const Query& query) {
  return query.columns.empty() ? kDefaultColumns : query.columns;
}

Sql to_sql(Database& database, const Query& query, const std::vector<Cell>& metric_names) {
  std::vector<std::string> columns;
  for (const std::string& name : selected(query)) {
    columns.emplace_back(find_key(name)->column);
  }
  Sql sql{"SELECT " + join(columns, ", ") + " FROM experiments", {}};
  add_conditions(database, sql, query, metric_names);
  add_order(sql, query);
  if (query.limit > 0) {
    sql.text += " LIMIT ?";
    sql.values.emplace_back(query.limit + 1);  // one more tells whether the limit cut anything
  }
  return sql;
}

}  // namespace

Table run_query(Journal& journal, const Query& query) {
  Table table;
  for (const std::string& name : selected(query)) {
    table.columns.push_back({name, find_key(name)->key.type});
  }
  const std::vector<Cell> names = metric_names(query);
  const Sql sql = to_sql(journal.implementation().database, query, names);
  Statement rows = journal.implementation().database.query(sql.text, sql.values);
  add_rows(table, rows, query.limit);
  return table;
}

std::vector<std::string> explain_query(Journal& journal, const Query& query) {
  const std::vector<Cell> names = metric_names(query);
  const Sql sql = to_sql(journal.implementation().database, query, names);
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
