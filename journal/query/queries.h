// journal/query/queries.h - finds past experiments by typed predicates or by read-only SQL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/core/words.h"

namespace apo {

class Journal;

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate is NULL

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  bool more = false;  // the limit cut rows off
};

enum class ColumnType : std::uint8_t { integer, real, text };

// A key that predicates may use; for help texts.
struct QueryKey {
  std::string_view name;
  ColumnType type = ColumnType::text;
  std::string_view meaning;
};
const std::vector<QueryKey>& query_keys();

enum class Operator : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal, contains };
constexpr std::string_view to_string(Operator operation) {
  return word_at("=, !=, <, <=, >, >=, ~", static_cast<std::size_t>(operation));
}

struct Predicate {
  std::string key;  // of query_keys(), or "metric:NAME"
  Operator operation = Operator::equal;
  std::vector<Cell> values;  // several: any of them (none of them for unequal)
};

struct SortKey {
  std::string column;
  bool descending = false;
};

struct Query {
  std::vector<Predicate> where;      // all of them
  std::vector<SortKey> sort;         // rows without a value of the first key are left out; default: newest first
  std::vector<std::string> columns;  // empty = the default ones
  std::int64_t limit = 50;           // 0 = all
};

// "family=e88_backward verdict=reverted speedup<1 technique=padded-cache workload=n32 machine~Xeon since=2026-01-01
// metric:registers>128 sort=-speedup,id columns=id,variant limit=20". Operators = != < <= > >= and ~ (contains,
// ignoring case). Commas separate alternatives; "\," is a comma. A row without a value meets no predicate on it.
// Throws UserError for an unknown key or word, a wrong type and an operator that does not apply.
Query parse_query(const std::vector<std::string>& words);

Table run_query(Journal& journal, const Query& query);
// The same predicates about the profiles that are kept, with a column for each metric that they name: newest first.
// Throws UserError for keys that only experiments have, and for an order or columns.
Table query_profiles(Journal& journal, const Query& query);
// The same predicates about judgements of two commands: newest first. Throws UserError for keys that these do not have,
// and for an order or columns.
Table query_commands(Journal& journal, const Query& query);

struct SqlLimits {
  double seconds = 10;
  std::size_t rows = 100'000;
};
// One statement that only reads. Throws UserError for anything else, for SQL errors and when time runs out.
Table run_sql(const std::filesystem::path& path, const std::string& sql, const SqlLimits& limits = {});

}  // namespace apo
