// journal/query/query_facets.h - the predicates on columns of few values, all at once: which combinations meet them,
// and how many experiments those are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/database.h"
#include "journal/query/queries.h"

namespace apo {

bool is_of_facets(const std::string& key);  // a key whose column stands in experiment_counts

// Combinations that meet every such predicate of a query.
struct Facets {
  bool asked = false;  // the query has such a predicate
  struct One {
    std::int64_t id = 0;
    std::int64_t rank = 0;  // by the keys of the order that facets decide; the lower comes first
  };
  std::vector<One> met;
  std::int64_t experiments = 0;  // of all of them

  std::string members() const;  // "id IN (...)" of their experiments
};
Facets find_facets(Database& database, const Query& query);

// Returns the number of leading sort keys that facets decide.
std::size_t facet_keys_of(const Query& query);

}  // namespace apo
