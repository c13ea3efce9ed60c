// journal/query/query_walk.h - reads experiments in the order of the answer, a few at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/database.h"
#include "journal/query/queries.h"
#include "journal/query/query_facets.h"

namespace apo {

// Merges runs that indexes have in order. With predicates on columns of few values, or an order by them: the members of
// each combination that meets these, by number or by speed-up. Else the experiments of each configuration, or one run
// where an index has the order but SQLite would sort all rows of equal keys by their number.
class Walk {
 public:
  // std::nullopt when no indexes have the order, or when SQLite's own plan is as good.
  static std::optional<Walk> in_order_of(Database& database, const Query& query, const Facets& facets);

  bool is_of_facets() const { return of_facets_; }
  std::vector<std::int64_t> next(std::size_t count);  // ids of experiments; fewer at the end

 private:
  struct Run {
    std::string sql;  // selects numbers, and what orders them before these do: a speed-up, or the same for all
    std::vector<Value> values;
    std::int64_t rank = 0;  // the runs of one rank come before those of the next
  };
  struct Member {
    std::size_t run = 0;
    double key = 0;
    std::int64_t experiment = 0;
  };
  Walk(Database& database, bool descends) : database_(&database), descends_(descends) {}
  static std::vector<Run> runs_of_configurations(Database& database, const SortKey& key);
  static std::vector<Run> run_of_index(const Query& query, const std::string& down);
  bool is_after(const Member& one, const Member& other) const;
  void open_next_rank();
  void push(std::size_t run);

  Database* database_;
  bool descends_;
  bool of_facets_ = false;
  std::vector<Run> runs_;  // by rank
  std::size_t opened_ = 0;
  std::vector<Statement> open_;  // those of one rank
  std::vector<Member> heap_;     // the next of each of them
};

}  // namespace apo
