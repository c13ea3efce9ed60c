// journal/query/query_profiles.cpp - finds stored profiles by configuration and metrics.
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/query/query_keys.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

constexpr const char* kFrom =
    " FROM profile p JOIN configuration c ON c.id = p.configuration JOIN machine m ON m.id = p.machine";

const std::vector<Column> kColumns = {{"id", ColumnType::integer},     {"at", ColumnType::text},
                                      {"candidate", ColumnType::text}, {"workload", ColumnType::text},
                                      {"machine", ColumnType::text},   {"rung", ColumnType::text},
                                      {"time_ns", ColumnType::real},   {"floor_ns", ColumnType::real}};
constexpr const char* kSelected = "p.id, p.at, c.label, p.workload, m.model, p.rung, p.time_ns, p.floor_ns";

// Maps a key of a query over experiments to its meaning for a profile.
std::string column_of(const std::string& key) {
  static const std::map<std::string, std::string> kMeant = {
      {"id", "p.id"},
      {"family", "substr(c.variant, 1, instr(c.variant, '/') - 1)"},
      {"variant", "c.variant"},
      {"candidate", "c.label"},
      {"settings", "c.settings"},
      {"workload", "p.workload"},
      {"machine", "m.model"}};
  const auto found = kMeant.find(key);
  if (found == kMeant.end()) {
    throw UserError(
        "a profile has no '" + key + "'",
        "with --profiles there are id, family, variant, candidate, settings, workload, machine, since, until "
        "and metric:NAME");
  }
  return found->second;
}

std::string condition(const Predicate& predicate, const std::vector<Cell>& names, std::size_t& next_name,
                      std::vector<Value>& values) {
  if (predicate.key == "since" || predicate.key == "until") {
    values.push_back(bound(predicate.values.front()));
    return predicate.key == "since" ? "p.at >= ?" : "p.at <= ?";
  }
  std::string part;
  if (predicate.key.starts_with(kMetricPrefix)) {
    values.push_back(bound(names[next_name++]));
    part = "p.id IN (SELECT profile FROM metric WHERE name = ? AND " + comparison("value", predicate, values) + ")";
  } else {
    part = comparison(column_of(predicate.key), predicate, values);
  }
  return predicate.operation == Operator::unequal ? "NOT (" + part + ")" : part;
}

}  // namespace

Table query_profiles(Journal& journal, const Query& query) {
  if (!query.sort.empty() || !query.columns.empty()) {
    throw UserError("--profiles takes no --sort and no --columns",
                    "profiles come newest first; for another order write --sql over the tables profile and metric");
  }
  const std::vector<Cell> names = metric_names(query);
  Table table{.columns = kColumns};
  std::string sql = std::string("SELECT ") + kSelected;
  std::vector<Value> values;
  for (const Cell& name : names) {
    sql += ", (SELECT value FROM metric WHERE profile = p.id AND name = ? ORDER BY position LIMIT 1)";
    values.push_back(bound(name));
    table.columns.push_back({std::get<std::string>(name), ColumnType::real});
  }
  std::vector<std::string> parts;
  std::size_t next_name = 0;
  for (const Predicate& predicate : query.where) {
    parts.push_back(condition(predicate, names, next_name, values));
  }
  sql += kFrom + (parts.empty() ? "" : " WHERE " + join(parts, " AND ")) + " ORDER BY p.id DESC";
  Statement rows = journal.implementation().database.query(sql, values);
  add_rows(table, rows, query.limit);
  return table;
}

}  // namespace apo
