// journal/query/query_sql.h - predicates as SQL with bound values, for queries over experiments and over profiles.
#pragma once

#include <string>
#include <vector>

#include "journal/database.h"
#include "journal/query/queries.h"

namespace apo {

// Points into the cell.
Value bound(const Cell& cell);

// "column OP any of the values", which are added to `values`; unequal is left to the caller's NOT.
std::string comparison(const std::string& column, const Predicate& predicate, std::vector<Value>& values);

// The names of the predicates metric:NAME, in their order.
std::vector<Cell> metric_names(const Query& query);

// The rows in the table's columns, at most `limit` (0 = all); `more` says whether that cut any off.
void add_rows(Table& table, Statement& rows, std::int64_t limit);

}  // namespace apo
