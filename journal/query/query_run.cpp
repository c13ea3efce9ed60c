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

const KeySpec& known_key(const Subject& subject, const std::string& name) {
  const KeySpec* spec = find_key(subject, name);
  if (spec == nullptr) {
    std::vector<std::string> known;
    for (const KeySpec& one : subject.keys) {
      known.emplace_back(one.key.name);
    }
    throw UserError(fmt::format("{} has no '{}'", subject.what, name), "there are " + join(known, ", "));
  }
  return *spec;
}

std::string condition(const Subject& subject, const Predicate& predicate, std::vector<Value>& values) {
  const KeySpec& spec = known_key(subject, predicate.key);
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
std::string order_of(const Subject& subject, const Query& query) {
  if (query.sort.empty()) {
    return "id DESC";
  }
  std::vector<std::string> parts;
  for (const SortKey& key : query.sort) {
    parts.push_back(std::string(known_key(subject, key.column).column) + (key.descending ? " DESC" : ""));
  }
  parts.emplace_back(query.sort.front().descending ? "+id DESC" : "+id");
  return join(parts, ", ");
}

struct Selected {
  std::vector<std::string> columns;
  std::vector<std::string> expressions;
  std::vector<Value> values;
};

Selected select(const Subject& subject, const Query& query) {
  Selected selected{.columns = query.columns.empty() ? subject.columns : query.columns};
  for (const std::string& name : selected.columns) {
    const KeySpec* spec = query.columns.empty() ? find_key(subject, name) : &known_key(subject, name);
    selected.expressions.emplace_back(spec == nullptr ? std::string_view(name) : spec->column);
  }
  return selected;
}

// The inner SELECT finds the ids by few columns; only for those that are shown the others are put together.
Table run(Journal& journal, const Subject& subject, const Query& query, Selected selected) {
  std::vector<std::string> conditions = {"1"};
  for (const Predicate& predicate : query.where) {
    conditions.push_back(condition(subject, predicate, selected.values));
  }
  if (!query.sort.empty()) {
    conditions.push_back(has_value(known_key(subject, query.sort.front().column)));
  }
  const std::string order = order_of(subject, query);
  const std::string sql =
      fmt::format("SELECT {0} FROM {1} WHERE id IN (SELECT id FROM {1} WHERE {2} ORDER BY {3} LIMIT {4}) ORDER BY {3}",
                  join(selected.expressions, ", "), subject.view, join(conditions, " AND "), order,
                  query.limit > 0 ? query.limit + 1 : -1);  // one more tells whether the limit cut any off
  Table table{.columns = std::move(selected.columns)};
  Statement rows = database_of(journal).query(sql, selected.values);
  add_rows(table, rows.handle(), static_cast<std::size_t>(query.limit > 0 ? query.limit : -1),
           [&] { return rows.step(); });
  return table;
}

void refuse_order(const Subject& subject, const Query& query, std::string_view option) {
  if (!query.sort.empty() || !query.columns.empty()) {
    throw UserError(fmt::format("{} takes no --sort and no --columns", option),
                    fmt::format("they come newest first; for another order {}", subject.for_another_order));
  }
}

}  // namespace

Table run_query(Journal& journal, const Query& query) {
  return run(journal, experiments_subject(), query, select(experiments_subject(), query));
}

Table query_profiles(Journal& journal, const Query& query) {
  refuse_order(profiles_subject(), query, "--profiles");
  Selected selected = select(profiles_subject(), query);
  for (const Predicate& predicate : query.where) {
    if (predicate.key.starts_with(kMetricPrefix)) {
      selected.columns.push_back(predicate.key.substr(kMetricPrefix.size()));
      selected.expressions.emplace_back(
          "(SELECT value FROM metric WHERE profile = profiles.id AND name = ? ORDER BY position LIMIT 1)");
      selected.values.emplace_back(std::string_view(predicate.key).substr(kMetricPrefix.size()));
    }
  }
  return run(journal, profiles_subject(), query, std::move(selected));
}

Table query_commands(Journal& journal, const Query& query) {
  refuse_order(commands_subject(), query, "--commands");
  return run(journal, commands_subject(), query, select(commands_subject(), query));
}

}  // namespace apo
