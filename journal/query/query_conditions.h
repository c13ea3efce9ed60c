// journal/query/query_conditions.h - one predicate of a query as SQL, in the form that finds rows and the form that
// tests one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/database.h"
#include "journal/query/queries.h"

namespace apo {

struct Form {
  std::string text;
  std::vector<Value> values;  // point into the predicate
};

// `finds` lets SQLite start at an index and sort what it finds; `tests` looks at a row that the order of the answer has
// led to. Which is fast depends on how many rows there are: `probe` selects them, and is empty where no index can.
struct Condition {
  Form finds;
  Form tests;
  Form probe;
};

// Not for unequal, of which the caller makes the NOT of what is tested for equal. `metric` is the name of metric:NAME.
Condition condition_of(const Predicate& predicate, const Cell* metric);

// Up to this many rows are found and sorted in milliseconds; where there are more, the first ones that pass are met
// soon enough by walking in the order of the answer.
constexpr int kFewRows = 3000;

// Returns the clause by which an index finds the rows of a column of the view: "ID FROM ... WHERE COLUMN", the
// experiment's id first. Returns "" where there is no index.
std::string indexed(std::string_view column);

bool are_few(Database& database, const Condition& condition);

// Between which numbers experiments lie that a predicate on the start allows, as predicates that lead to them faster.
std::vector<Predicate> bounds_of_number(Database& database, const Predicate& predicate);

// "~" on a column of few distinct values among many rows becomes "=" with those of them that contain the text, so that
// an index finds the rows. Left as it is where the values are too many for that.
Predicate with_known_values(Database& database, const Predicate& predicate);

}  // namespace apo
