// tests/journal/query/pairs_test.cpp - any two predicates in any order find what SQL over the view finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "journal/database.h"
#include "journal/facts/experiments.h"
#include "journal/facts/unfinished.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

constexpr Verdict kVerdicts[] = {Verdict::reverted, Verdict::accepted, Verdict::inconclusive};

// Sixty judged experiments of several classes, verdicts, settings and equal speed-ups; one that failed a gate, one
// open, one abandoned.
void fill_for_pairs(Journal& journal) {
  Journal::Batch batch(journal);
  prepare(journal);
  const char* classes[] = {"n32", "n64", "n128", "n16"};
  for (int index = 0; index < 60; ++index) {
    add_quick(journal, {.workload_class = classes[index * 7 % 4],
                        .technique = index % 3 == 0 ? "cp-async" : "padded-cache",
                        .verdict = kVerdicts[index * 5 % 3],
                        .effect = 0.01 * (index * 11 % 13 - 6),
                        .setting = index % 9,
                        .started_at = "2026-02-" + std::to_string(10 + index * 3 % 19) + "T01:02:03Z"});
  }
  Experiment failed = an_experiment(0, 0);
  failed.outcome = Outcome::incorrect;
  failed.judgement = {.verdict = Verdict::reverted, .reason = Reason::gate_failed, .sentence = "NaN in dS"};
  failed.judgement->preset = "";
  failed.judgement->cache_policy.reset();
  failed.id = begin_experiment(journal, failed);
  finish_experiment(journal, failed);
  const std::int64_t abandoned = begin_experiment(journal, an_experiment(0, 0));
  mark_abandoned(journal, {.kind = Unfinished::Kind::experiment, .id = abandoned}, "the machine went away");
  begin_experiment(journal, an_experiment(0, 0));
  batch.commit();
}

class Pairs : public ::testing::Test {
 protected:
  std::vector<std::int64_t> ids_of(Table table) {
    std::vector<std::int64_t> ids;
    for (const auto& row : table.rows) {
      ids.push_back(std::get<std::int64_t>(row.at(0)));
    }
    return ids;
  }
  std::vector<std::int64_t> select(const std::string& sql) { return journal.implementation().database.integers(sql); }
  std::vector<std::int64_t> found(std::vector<std::string> words) {
    words.emplace_back("columns=id");
    return ids_of(run_query(journal, parse_query(words)));
  }

  Scratch scratch;
  Journal journal = scratch.open();
};

struct Meaning {
  const char* word;
  const char* sql;
};

TEST_F(Pairs, OfPredicatesInEveryOrderFindWhatSqlFinds) {
  fill_for_pairs(journal);
  const Meaning predicates[] = {{"verdict=reverted", "verdict = 'reverted'"},
                                {"verdict!=accepted", "verdict <> 'accepted'"},
                                {"class=n32,n64", "workload_class IN ('n32', 'n64')"},
                                {"class~N1", "workload_class LIKE '%n1%'"},
                                {"state!=running", "state <> 'running'"},
                                {"machine~xeon", "(machine LIKE '%xeon%' OR machine_id LIKE '%xeon%')"},
                                {"technique!=cp-async", "techniques NOT LIKE '%cp-async%'"},
                                {"technique~ASYNC", "techniques LIKE '%async%'"},
                                {"cache_policy!=cold", "cache_policy <> 'cold'"},
                                {"settings!={\"K\":3}", "settings <> '{\"K\":3}'"},
                                {"candidate~k=1", "candidate LIKE '%k=1%'"},
                                {"speedup>1.01", "speedup > 1.01"},
                                {"id<=40", "id <= 40"},
                                {"until=2026-02-20", "started_at < '2026-02-21'"},
                                {"started_at>2026-02-10T00:00:00Z", "started_at > '2026-02-10T00:00:00Z'"},
                                {"sentence~MEASURED: it", "sentence LIKE '%measured: it%'"},
                                {"sentence~no such words", "sentence LIKE '%no such words%'"}};
  const Meaning orders[] = {{"sort=-id", "id DESC"},
                            {"sort=-speedup", "speedup DESC, id DESC"},
                            {"sort=speedup", "speedup, id"},
                            {"sort=verdict", "verdict, id"},
                            {"sort=preset", "preset, id"},
                            {"sort=-class,id", "workload_class DESC, id"},
                            {"sort=class,-verdict", "workload_class, verdict DESC, id"},
                            {"sort=-lower", "lower DESC, id DESC"},
                            {"sort=rounds", "rounds, id"},
                            {"sort=candidate", "candidate, id"},
                            {"sort=-variant", "variant DESC, id DESC"},
                            {"sort=-finished_at", "finished_at DESC, id DESC"}};
  for (const Meaning& one : predicates) {
    for (const Meaning& other : std::span(predicates).subspan(static_cast<std::size_t>(&one - predicates))) {
      for (const Meaning& order : orders) {
        const std::string sql_order = order.sql;
        const std::string key = sql_order.substr(0, sql_order.find_first_of(" ,"));
        const std::vector<std::int64_t> all =
            select(std::string("SELECT id FROM experiments WHERE ") + one.sql + " AND " + other.sql + " AND " + key +
                   " IS NOT NULL ORDER BY " + sql_order);
        const std::string what = std::string(one.word) + " " + other.word + " " + order.word;
        EXPECT_EQ(found({one.word, other.word, order.word, "limit=0"}), all) << what;
        const std::vector<std::int64_t> first(
            all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 5)));
        EXPECT_EQ(found({one.word, other.word, order.word, "limit=5"}), first) << what;
      }
    }
  }
}

}  // namespace
}  // namespace apo
