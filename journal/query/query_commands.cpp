// journal/query/query_commands.cpp - finds judgements of two commands by the predicates that experiments have too.
#include <algorithm>
#include <array>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

struct Meant {
  std::string_view key;
  std::string_view column;  // of the view command_comparisons
};

constexpr std::array kOfCommands = {Meant{"id", "id"},
                                    Meant{"incumbent", "command_a"},
                                    Meant{"candidate", "command_b"},
                                    Meant{"outcome", "outcome"},
                                    Meant{"verdict", "verdict"},
                                    Meant{"reason", "reason"},
                                    Meant{"speedup", "speedup"},
                                    Meant{"lower", "lower"},
                                    Meant{"upper", "upper"},
                                    Meant{"rounds", "rounds"},
                                    Meant{"seconds", "seconds"},
                                    Meant{"machine", "machine"},
                                    Meant{"started_at", "started_at"},
                                    Meant{"finished_at", "finished_at"},
                                    Meant{"state", "state"},
                                    Meant{"sentence", "sentence"}};

std::string column_meant(const std::string& key) {
  const auto found =
      std::find_if(kOfCommands.begin(), kOfCommands.end(), [&](const Meant& one) { return one.key == key; });
  if (found == kOfCommands.end()) {
    std::vector<std::string> known;
    std::transform(kOfCommands.begin(), kOfCommands.end(), std::back_inserter(known),
                   [](const Meant& one) { return std::string(one.key); });
    throw UserError("a comparison of two commands has no '" + key + "'",
                    "with --commands there are " + join(known, ", ") + ", since and until");
  }
  return std::string(found->column);
}

std::string condition_on_commands(const Predicate& predicate, std::vector<Value>& values) {
  if (predicate.key == "since" || predicate.key == "until") {
    values.push_back(bound(predicate.values.front()));
    return predicate.key == "since" ? "started_at >= ?" : "started_at <= ?";
  }
  const std::string part = comparison(column_meant(predicate.key), predicate, values);
  return predicate.operation == Operator::unequal ? "NOT (" + part + ")" : part;
}

}  // namespace

Table query_commands(Journal& journal, const Query& query) {
  if (!query.sort.empty() || !query.columns.empty()) {
    throw UserError("--commands takes no --sort and no --columns",
                    "they come newest first; for another order write --sql over the view command_comparisons");
  }
  Table table{.columns = {{"id", ColumnType::integer},
                          {"purpose", ColumnType::text},
                          {"command_a", ColumnType::text},
                          {"command_b", ColumnType::text},
                          {"metric", ColumnType::text},
                          {"verdict", ColumnType::text},
                          {"reason", ColumnType::text},
                          {"speedup", ColumnType::real},
                          {"lower", ColumnType::real},
                          {"upper", ColumnType::real},
                          {"state", ColumnType::text}}};
  std::vector<Value> values;
  std::vector<std::string> parts;
  for (const Predicate& predicate : query.where) {
    parts.push_back(condition_on_commands(predicate, values));
  }
  Statement rows = journal.implementation().database.query(
      "SELECT id, purpose, command_a, command_b, metric, verdict, reason, speedup, lower, upper, state"
      " FROM command_comparisons" +
          (parts.empty() ? "" : " WHERE " + join(parts, " AND ")) + " ORDER BY id DESC",
      values);
  add_rows(table, rows, query.limit);
  return table;
}

}  // namespace apo
