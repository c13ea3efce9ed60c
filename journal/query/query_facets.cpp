// journal/query/query_facets.cpp - intersects the predicates on columns with few values.
#include "journal/query/query_facets.h"

#include <algorithm>
#include <array>

#include "harness/core/text.h"
#include "journal/query/query_keys.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

constexpr std::array kFacetColumns = {"family", "workload_class", "state",        "outcome", "verdict",
                                      "reason", "profile",        "cache_policy", "judge",   "machine"};

std::string rank_of(const Query& query) {
  std::vector<std::string> keys;
  for (std::size_t index = 0; index < facet_keys_of(query); ++index) {
    const SortKey& key = query.sort[index];
    keys.push_back(std::string(find_key(key.column)->column) + (key.descending ? " DESC" : ""));
  }
  return keys.empty() ? "1" : "dense_rank() OVER (ORDER BY " + join(keys, ", ") + ")";
}

}  // namespace

bool is_of_facets(const std::string& key) {
  const KeySpec* spec = find_key(key);
  const bool has_kind = spec != nullptr && (spec->kind == KeyKind::plain || spec->kind == KeyKind::machine);
  return has_kind && std::find(kFacetColumns.begin(), kFacetColumns.end(), spec->column) != kFacetColumns.end();
}

std::size_t facet_keys_of(const Query& query) {
  const auto first_other =
      std::find_if(query.sort.begin(), query.sort.end(), [](const SortKey& key) { return !is_of_facets(key.column); });
  return static_cast<std::size_t>(first_other - query.sort.begin());
}

Facets find_facets(Database& database, const Query& query) {
  Facets facets;
  std::vector<std::string> parts = {"1"};
  std::vector<Value> values;
  for (const Predicate& predicate : query.where) {
    if (!is_of_facets(predicate.key)) {
      continue;
    }
    facets.asked = true;
    const KeySpec& spec = *find_key(predicate.key);
    std::string part = comparison(std::string(spec.column), predicate, values);
    if (spec.kind == KeyKind::machine) {
      part = "(" + part + " OR " + comparison("machine_id", predicate, values) + ")";
    }
    parts.push_back(predicate.operation == Operator::unequal ? "NOT (" + part + ")" : part);
  }
  if (facet_keys_of(query) > 0) {  // rows without a value of the first key are left out
    parts.push_back(std::string(find_key(query.sort.front().column)->column) + " IS NOT NULL");
  }
  Statement rows =
      database.query("SELECT facet, " + rank_of(query) + " AS place, experiments FROM experiment_counts WHERE " +
                         join(parts, " AND ") + " ORDER BY place",
                     values);
  while (rows.step()) {
    facets.met.push_back({.id = rows.integer(), .rank = rows.integer()});
    facets.experiments += rows.integer();
  }
  return facets;
}

std::string Facets::members() const {
  std::vector<std::string> ids;
  for (const One& one : met) {
    ids.push_back(std::to_string(one.id));
  }
  return "id IN (SELECT experiment FROM facet_member WHERE facet IN (" + join(ids, ", ") + "))";
}

}  // namespace apo
