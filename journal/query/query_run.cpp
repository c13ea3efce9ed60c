// journal/query/query_run.cpp - turns a query into SELECTs with bound values, and runs them.
//
// Two ways lead to the rows, and the counts of what meets each predicate choose: find those that meet the rarest and
// sort them, or walk the experiments in the order of the answer and test each. Where predicates on columns of few
// values are frequent one by one and rare together, it walks only those that meet all of these.
#include <fmt/format.h>

#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/query/query_conditions.h"
#include "journal/query/query_facets.h"
#include "journal/query/query_keys.h"
#include "journal/query/query_sql.h"
#include "journal/query/query_walk.h"

namespace apo {
namespace {

const std::vector<std::string> kDefaultColumns = {"id",        "campaign", "workload", "candidate",
                                                  "incumbent", "outcome",  "verdict",  "reason",
                                                  "speedup",   "lower",    "upper",    "state"};

struct Sql {
  std::string text;
  std::vector<Value> values;  // point into the query
  bool sorts = false;         // few rows are found and then sorted
  bool walks = false;         // rows are those of a Walk
};

constexpr const char* kOfWalked = "id IN (SELECT value FROM json_each(?))";

// The sign keeps SQLite from walking all rows in this order where few are found otherwise.
std::string sign_of(const Sql& sql) {
  return sql.sorts ? "+" : "";
}

bool leads(const Query& query, const Predicate& predicate) {
  return predicate.key == (query.sort.empty() ? "id" : query.sort.front().column);
}

void add_conditions(Database& database, Sql& sql, const Query& query, const std::vector<Cell>& metric_names,
                    const Facets& facets) {
  struct Part {
    Condition condition;
    bool negated = false;
    bool leads = false;
    bool few = false;
  };
  std::vector<Part> all;
  std::size_t next_metric = 0;
  for (const Predicate& predicate : query.where) {
    const bool metric = predicate.key.starts_with(kMetricPrefix);
    Part part{.condition = condition_of(predicate, metric ? &metric_names[next_metric++] : nullptr)};
    part.negated = predicate.operation == Operator::unequal;
    part.leads = leads(query, predicate);
    part.few = !part.negated && !is_of_facets(predicate.key) && are_few(database, part.condition);
    sql.sorts = sql.sorts || (part.few && !part.leads);
    all.push_back(std::move(part));
  }
  std::vector<std::string> parts;
  sql.walks = sql.walks && !sql.sorts;
  if (sql.walks) {
    parts.emplace_back(kOfWalked);  // its value comes with each chunk, first
  } else if (facets.asked && !sql.sorts && (facets.experiments <= kFewRows || query.limit == 0)) {
    parts.push_back(facets.members());
    sql.sorts = true;
  }
  for (const Part& part : all) {
    // Without a limit every row is wanted, so the order leads nowhere sooner.
    const bool finds = !part.negated && !sql.walks && (query.limit == 0 || part.few || (part.leads && !sql.sorts));
    const Form& form = finds ? part.condition.finds : part.condition.tests;
    // ifnull: a row without a value meets nothing, and SQLite does not take this for a reason to start at that table.
    parts.push_back(part.negated ? "NOT ifnull(" + form.text + ", 1)" : form.text);
    sql.values.insert(sql.values.end(), form.values.begin(), form.values.end());
  }
  if (!query.sort.empty()) {
    // Says that there is a value, in a form from which SQLite sees that it may start at that column's index.
    const KeySpec& first = *find_key(query.sort.front().column);
    parts.push_back(sign_of(sql) + std::string(first.column) +
                    (first.key.type == ColumnType::text ? " >= ''" : " >= -9e999"));
  }
  if (!parts.empty()) {
    sql.text += " WHERE " + join(parts, " AND ");
  }
}

void add_order(Sql& sql, const Query& query) {
  std::vector<std::string> parts;
  bool by_id = false;
  for (const SortKey& key : query.sort) {
    parts.push_back(sign_of(sql) + std::string(find_key(key.column)->column) + (key.descending ? " DESC" : ""));
    by_id = by_id || key.column == "id";
  }
  if (!by_id) {
    const bool ascending = !query.sort.empty() && !query.sort.front().descending;
    parts.push_back(sign_of(sql) + "id" + (ascending ? "" : " DESC"));
  }
  sql.text += " ORDER BY " + join(parts, ", ");
}

std::vector<std::string> selected(const Query& query) {
  return query.columns.empty() ? kDefaultColumns : query.columns;
}

Sql to_sql(Database& database, const Query& query, const std::vector<Cell>& metric_names, const Facets& facets,
           bool walk) {
  std::vector<std::string> columns;
  for (const std::string& name : selected(query)) {
    columns.emplace_back(find_key(name)->column);
  }
  Sql sql{.text = "SELECT " + join(columns, ", ") + " FROM experiments", .walks = walk};
  add_conditions(database, sql, query, metric_names, facets);
  add_order(sql, query);
  if (query.limit > 0) {
    sql.text += fmt::format(" LIMIT {}", query.limit + 1);  // one more tells whether the limit cut anything
  }
  return sql;
}

// Everything about a query that does not change while it runs; the values of `sql` point into it.
struct Plan {
  Plan(Database& database, const Query& asked) : query(asked), names(metric_names(asked)) {
    for (Predicate& predicate : query.where) {
      predicate = predicate.key.starts_with(kMetricPrefix) || is_of_facets(predicate.key)
                      ? predicate
                      : with_known_values(database, predicate);
    }
    for (const Predicate& predicate : asked.where) {
      const std::vector<Predicate> bounds = bounds_of_number(database, predicate);
      query.where.insert(query.where.end(), bounds.begin(), bounds.end());
    }
    facets = find_facets(database, query);
    walk = Walk::in_order_of(database, query, facets);
    const bool few = facets.asked && facets.experiments <= kFewRows;
    const bool useful = walk.has_value() && query.limit > 0 && (walk->is_of_facets() || !few);
    sql = to_sql(database, query, names, facets, useful);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  Query query;
  std::vector<Cell> names;
  Facets facets;
  std::optional<Walk> walk;
  Sql sql;
};

std::string json_list(const std::vector<std::int64_t>& ids) {
  std::vector<std::string> texts;
  for (const std::int64_t id : ids) {
    texts.push_back(std::to_string(id));
  }
  return "[" + join(texts, ",") + "]";
}

constexpr std::size_t kLargestChunk = 4096;

// Looks at ever more members at a time: often the first ones are the answer.
void run_walk(Database& database, Plan& plan, Table& table) {
  const auto wanted = static_cast<std::size_t>(plan.query.limit) + 1;
  for (std::size_t chunk = wanted; !table.more; chunk = std::min(2 * chunk, std::max(wanted, kLargestChunk))) {
    const std::vector<std::int64_t> ids = plan.walk->next(chunk);
    if (ids.empty()) {
      return;
    }
    const std::string list = json_list(ids);
    std::vector<Value> values = {list};
    values.insert(values.end(), plan.sql.values.begin(), plan.sql.values.end());
    Statement rows = database.query(plan.sql.text, values);
    add_rows(table, rows, plan.query.limit);
  }
}

}  // namespace

Table run_query(Journal& journal, const Query& query) {
  Table table;
  for (const std::string& name : selected(query)) {
    table.columns.push_back({name, find_key(name)->key.type});
  }
  Database& database = journal.implementation().database;
  Plan plan(database, query);
  if (plan.sql.walks) {
    run_walk(database, plan, table);
    return table;
  }
  Statement rows = database.query(plan.sql.text, plan.sql.values);
  add_rows(table, rows, query.limit);
  return table;
}

std::vector<std::string> explain_query(Journal& journal, const Query& query) {
  Database& database = journal.implementation().database;
  const Plan plan(database, query);
  std::vector<Value> values = plan.sql.values;
  if (plan.sql.walks) {
    values.insert(values.begin(), "[]");
  }
  std::vector<std::string> steps;
  Statement rows = database.query("EXPLAIN QUERY PLAN " + plan.sql.text, values);
  while (rows.step()) {
    rows.integer();
    rows.integer();
    rows.integer();
    steps.push_back(rows.text());
  }
  return steps;
}

}  // namespace apo
