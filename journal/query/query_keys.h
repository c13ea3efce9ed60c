// journal/query/query_keys.h - what can be asked of experiments, and what it is in the view `experiments`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/query/queries.h"

struct sqlite3_stmt;

namespace apo {

struct KeySpec {
  QueryKey key;
  std::string_view column;                     // of the view; what sort= and columns= take
  std::vector<std::string> words = {};         // the only values, where there are only some
  std::string_view also = {};                  // another column that may meet a predicate
  std::vector<std::string_view> members = {};  // SELECTs of ids up to the column to compare, in place of the column
};

const std::vector<KeySpec>& key_specs();
const KeySpec* find_key(std::string_view name);  // "metric:NAME" too

// Reads rows until `step` says that there are no more, or until the limit cuts them off. Values have SQLite's own
// types.
void add_rows(Table& table, sqlite3_stmt* statement, std::size_t limit, const std::function<bool()>& step);

constexpr std::string_view kMetricPrefix = "metric:";

// Bounds on the start, which are columns of nothing.
inline bool is_date_bound(const KeySpec& spec) {
  return spec.key.name == "since" || spec.key.name == "until";
}

}  // namespace apo
