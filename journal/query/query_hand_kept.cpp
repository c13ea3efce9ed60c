// journal/query/query_hand_kept.cpp - finds rows of hand-kept journals by the predicates that experiments have too.
#include <algorithm>
#include <array>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

struct HandKeptKey {
  std::string_view key;
  std::string_view column;  // of the view hand_kept
};

constexpr std::array kOfHandKept = {HandKeptKey{"family", "subject"},         HandKeptKey{"candidate", "techniques"},
                                    HandKeptKey{"technique", "techniques"},   HandKeptKey{"incumbent", "baseline"},
                                    HandKeptKey{"workload", "axes"},          HandKeptKey{"verdict", "verdict"},
                                    HandKeptKey{"speedup", "speedup"},        HandKeptKey{"samples", "samples"},
                                    HandKeptKey{"machine", "device_deduced"}, HandKeptKey{"started_at", "date"},
                                    HandKeptKey{"sentence", "note"}};

std::string hand_kept_column(const std::string& key) {
  const auto found = std::ranges::find_if(kOfHandKept, [&](const HandKeptKey& one) { return one.key == key; });
  if (found == kOfHandKept.end()) {
    std::vector<std::string> known;
    std::ranges::transform(kOfHandKept, std::back_inserter(known),
                           [](const HandKeptKey& one) { return std::string(one.key); });
    throw UserError("a row of a hand-kept journal has no '" + key + "'",
                    "with --hand-kept there are " + join(known, ", ") + ", since and until");
  }
  return std::string(found->column);
}

std::string condition_on_rows(const Predicate& predicate, std::vector<Value>& values) {
  if (predicate.key == "since" || predicate.key == "until") {
    values.push_back(bound(predicate.values.front()));
    return predicate.key == "since" ? "date >= ?" : "date <= ?";
  }
  const std::string column = hand_kept_column(predicate.key);
  std::string part = comparison(column == "techniques" ? "value" : column, predicate, values);
  if (column == "techniques") {
    part = "EXISTS (SELECT 1 FROM json_each(techniques) WHERE " + part + ")";
  }
  return predicate.operation == Operator::unequal ? "NOT (" + part + ")" : part;
}

}  // namespace

Table query_hand_kept(Journal& journal, const Query& query) {
  if (!query.sort.empty() || !query.columns.empty()) {
    throw UserError("--hand-kept takes no --sort and no --columns",
                    "they come in the order of their documents; for another one write --sql over the view hand_kept");
  }
  Table table{.columns = {{"document", ColumnType::text},
                          {"line", ColumnType::integer},
                          {"subject", ColumnType::text},
                          {"scope", ColumnType::text},
                          {"techniques", ColumnType::text},
                          {"axes", ColumnType::text},
                          {"before", ColumnType::text},
                          {"after", ColumnType::text},
                          {"unit", ColumnType::text},
                          {"change", ColumnType::text},
                          {"speedup", ColumnType::real},
                          {"predicted", ColumnType::text},
                          {"verdict", ColumnType::text},
                          {"superseded_by", ColumnType::integer}}};
  std::vector<Value> values;
  std::vector<std::string> parts;
  for (const Predicate& predicate : query.where) {
    parts.push_back(condition_on_rows(predicate, values));
  }
  Statement rows = journal.implementation().database.query(
      "SELECT document, line, subject, scope, (SELECT group_concat(value, ', ') FROM json_each(techniques)), axes,"
      " before, after, unit, change, speedup, predicted, verdict, superseded_by FROM hand_kept" +
          (parts.empty() ? "" : " WHERE " + join(parts, " AND ")) + " ORDER BY document, line",
      values);
  add_rows(table, rows, query.limit);
  return table;
}

}  // namespace apo
