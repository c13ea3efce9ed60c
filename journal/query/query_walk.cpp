// journal/query/query_walk.cpp - walks an index until the answer is full.
#include "journal/query/query_walk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "journal/query/query_conditions.h"
#include "journal/query/query_keys.h"
#include "journal/query/query_sql.h"

namespace apo {
namespace {

// Predicates on what is walked by are met by where a run starts and ends.
std::string bounds_of(const Query& query, std::string_view key, const std::string& column, std::vector<Value>& values) {
  std::string conditions;
  for (const Predicate& predicate : query.where) {
    const bool bounds = predicate.operation != Operator::unequal && predicate.operation != Operator::contains;
    if (predicate.key == key && bounds) {
      conditions += " AND " + comparison(column, predicate, values);
    }
  }
  return conditions;
}

// By the last key, or by the number after it in the direction of the first.
bool walks_down(const Query& query) {
  const bool by_id = !query.sort.empty() && query.sort.back().column == "id";
  return query.sort.empty() || (by_id ? query.sort.back() : query.sort.front()).descending;
}

}  // namespace

std::optional<Walk> Walk::in_order_of(Database& database, const Query& query, const Facets& facets) {
  const std::size_t by_facets = facet_keys_of(query);
  const std::size_t others = query.sort.size() - by_facets;
  const bool alone = by_facets == 0 && others == 1;
  const std::string first = query.sort.empty() ? "" : query.sort.front().column;
  const bool by_speedup = alone && first == "speedup";
  const bool by_id = others == 0 || (others == 1 && query.sort.back().column == "id");
  Walk walk(database, walks_down(query));
  const std::string down = walk.descends_ ? " DESC" : "";
  if ((by_speedup || by_id) && (facets.asked || by_facets > 0)) {
    std::vector<Value> values(1, nullptr);
    const std::string from =
        by_speedup ? "SELECT experiment, speedup FROM facet_member WHERE facet = ? AND speedup IS NOT NULL"
                   : "SELECT experiment, 0.0 FROM facet_member WHERE facet = ?";
    const std::string bounds =
        by_speedup ? bounds_of(query, "speedup", "speedup", values) + " ORDER BY speedup" + down + ", experiment" + down
                   : bounds_of(query, "id", "experiment", values) + " ORDER BY experiment" + down;
    for (const Facets::One& one : facets.met) {
      values.front() = one.id;
      walk.runs_.push_back({.sql = from + bounds, .values = values, .rank = one.rank});
    }
    walk.of_facets_ = true;
    return walk;
  }
  if (alone && !by_id && first != "speedup") {  // of a speed-up hardly two are equal
    walk.runs_ = runs_of_configurations(database, query.sort.front());
    if (walk.runs_.empty()) {
      walk.runs_ = run_of_index(query, down);
    }
  }
  return walk.runs_.empty() ? std::nullopt : std::optional(std::move(walk));
}

// One for each configuration: their labels are in order, and so are the experiments of each.
std::vector<Walk::Run> Walk::runs_of_configurations(Database& database, const SortKey& key) {
  static const std::map<std::string_view, std::pair<std::string, std::string>> kColumns = {
      {"variant", {"variant", "candidate"}},
      {"settings", {"settings", "candidate"}},
      {"candidate", {"label", "candidate"}},
      {"incumbent", {"label", "incumbent"}}};
  const auto found = kColumns.find(key.column);
  if (found == kColumns.end()) {
    return {};
  }
  const auto& [column, role] = found->second;
  const std::string down = key.descending ? " DESC" : "";
  std::vector<Run> runs;
  Statement rows = database.query("SELECT id, dense_rank() OVER (ORDER BY " + column + down +
                                  ") AS place FROM configuration ORDER BY place");
  while (rows.step()) {
    runs.push_back({.sql = "SELECT id, 0.0 FROM experiment WHERE " + role + " = ? ORDER BY id" + down,
                    .values = {rows.integer()},
                    .rank = rows.integer()});
  }
  return runs;
}

// Of a table that is not `experiment`: SQLite itself knows the indexes of that one to end with the number.
std::vector<Walk::Run> Walk::run_of_index(const Query& query, const std::string& down) {
  const QueryKey& key = find_key(query.sort.front().column)->key;
  const std::string index = indexed(find_key(key.name)->column);
  if (index.empty() || index.starts_with("id ")) {
    return {};
  }
  const std::string column = index.substr(index.rfind(' ') + 1);
  const bool is_text = key.type == ColumnType::text;
  Run run{.sql = "SELECT experiment, 0.0" + index.substr(index.find(' ')) + (is_text ? " >= ''" : " >= -9e999")};
  run.sql += bounds_of(query, key.name, column, run.values) + " ORDER BY " + column + down + ", experiment" + down;
  return {run};
}

bool Walk::is_after(const Member& one, const Member& other) const {
  if (one.key != other.key) {
    return descends_ == (one.key < other.key);
  }
  return descends_ == (one.experiment < other.experiment);
}

void Walk::open_next_rank() {
  open_.clear();
  const std::int64_t rank = runs_[opened_].rank;
  for (; opened_ < runs_.size() && runs_[opened_].rank == rank; ++opened_) {
    open_.push_back(database_->query(runs_[opened_].sql, runs_[opened_].values));
    push(open_.size() - 1);
  }
}

void Walk::push(std::size_t run) {
  if (!open_[run].step()) {
    return;
  }
  const std::int64_t experiment = open_[run].integer();
  heap_.push_back({.run = run, .key = open_[run].real(), .experiment = experiment});
  std::push_heap(heap_.begin(), heap_.end(), [this](const Member& a, const Member& b) { return is_after(a, b); });
}

std::vector<std::int64_t> Walk::next(std::size_t count) {
  std::vector<std::int64_t> ids;
  while (ids.size() < count && (!heap_.empty() || opened_ < runs_.size())) {
    if (heap_.empty()) {
      open_next_rank();
      continue;
    }
    std::pop_heap(heap_.begin(), heap_.end(), [this](const Member& a, const Member& b) { return is_after(a, b); });
    const Member first = heap_.back();
    heap_.pop_back();
    ids.push_back(first.experiment);
    push(first.run);
  }
  return ids;
}

}  // namespace apo
