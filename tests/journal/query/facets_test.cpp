// tests/journal/query/facets_test.cpp - what is kept for queries on very many experiments agrees with the facts, and
// the quick ways to an answer find what reading every row finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "journal/database.h"
#include "journal/implementation.h"
#include "journal/query/queries.h"
#include "journal/schema/migrations.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

constexpr Verdict kVerdicts[] = {Verdict::reverted, Verdict::accepted, Verdict::inconclusive};

// Sixty judged experiments of several classes, verdicts, settings and equal speed-ups; one that failed a gate, one
// open, one abandoned.
void fill_for_facets(Journal& journal) {
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
  failed.id = journal.begin_experiment(failed);
  journal.finish_experiment(failed);
  const std::int64_t abandoned = journal.begin_experiment(an_experiment(0, 0));
  journal.mark_abandoned({.kind = Unfinished::Kind::experiment, .id = abandoned}, "the machine went away");
  journal.begin_experiment(an_experiment(0, 0));
  batch.commit();
}

class Facets : public ::testing::Test {
 protected:
  std::vector<std::int64_t> ids_of(Table table) {
    std::vector<std::int64_t> ids;
    for (const auto& row : table.rows) {
      ids.push_back(std::get<std::int64_t>(row.at(0)));
    }
    return ids;
  }
  std::vector<std::int64_t> select(const std::string& sql) {
    std::vector<std::int64_t> ids;
    Statement rows = journal.implementation().database.query(sql);
    while (rows.step()) {
      ids.push_back(rows.integer());
    }
    return ids;
  }
  // The samples break others: their verdicts have no rounds.
  std::size_t broken() {
    std::size_t count = 0;
    for (const std::string& finding : journal.check_invariants()) {
      const bool ours = finding.find("stands under") != std::string::npos ||
                        finding.find("combination") != std::string::npos ||
                        finding.find("sought") != std::string::npos || finding.find("span") != std::string::npos;
      count += ours ? 1 : 0;
    }
    return count;
  }
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

TEST_F(Facets, EveryPairOfPredicatesInEveryOrderFindsWhatReadingEveryRowFinds) {
  fill_for_facets(journal);
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
                            {"sort=profile", "profile, id"},
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

TEST_F(Facets, CountsAreThoseOfTheExperiments) {
  fill_for_facets(journal);
  const auto counts = [&](const std::string& sql) { return run_sql(scratch.path, sql).rows; };
  const std::string by = " verdict, workload_class, state, ";
  EXPECT_EQ(counts("SELECT" + by + "sum(experiments) FROM experiment_counts GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
            counts("SELECT" + by + "count(*) FROM experiments GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"));
  EXPECT_EQ(broken(), 0u);
}

TEST_F(Facets, WhatDisagreesWithTheFactsIsABrokenInvariant) {
  fill_for_facets(journal);
  for (const std::string change :
       {"UPDATE facet SET experiments = experiments + 1 WHERE verdict = 'accepted'",
        "DELETE FROM facet_member WHERE experiment = 7", "UPDATE facet_member SET speedup = 2 WHERE experiment = 7",
        "INSERT INTO facet_member (facet, experiment) VALUES (1, 12345)",
        "UPDATE experiment_span SET latest = earliest",
        "INSERT INTO sentence_index (rowid, sentence) VALUES (63, 'of one that is not over')"}) {
    Journal::Batch undone(journal);
    journal.implementation().database.run(change);
    EXPECT_NE(broken(), 0u) << change;
  }
  EXPECT_EQ(broken(), 0u);
}

// What a journal of version 5 holds of the same experiments.
void forget_version_6(const std::filesystem::path& path) {
  Database database(path, Database::Mode::write);
  for (const std::string kind : {"view", "trigger", "index", "table"}) {
    std::vector<std::string> names;
    {
      Statement rows = database.query("SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", {kind});
      while (rows.step()) {
        names.push_back(rows.text());
      }
    }
    Scratch older;
    Database before(older.path, Database::Mode::create);
    migrate(before, migrations().first(5));
    for (const std::string& name : names) {
      const bool is_older = before.query("SELECT 1 FROM sqlite_schema WHERE name = ?", {name}).step();
      if (!is_older && database.query("SELECT 1 FROM sqlite_schema WHERE name = ?", {name}).step()) {
        database.execute(("DROP " + kind + " " + name).c_str());
      }
    }
  }
  database.execute("PRAGMA user_version = 5");
}

TEST_F(Facets, AJournalOfVersion5GainsThemAndItsReaderDoesWithout) {
  fill_for_facets(journal);
  const std::vector<std::string> words = {"verdict=reverted", "class=n64", "sort=-speedup"};
  const std::vector<std::int64_t> before = found(words);
  ASSERT_FALSE(before.empty());
  { const Journal closed = std::move(journal); }
  forget_version_6(scratch.path);
  const std::string bytes = read_file(scratch.path);
  journal = scratch.open(Access::read_only);
  EXPECT_EQ(found(words), before);
  EXPECT_EQ(found({"sentence~machine went"}).size(), 1u);
  EXPECT_EQ(journal.unfinished().size(), 1u);
  EXPECT_EQ(journal.campaigns().size(), 0u);
  EXPECT_EQ(read_file(scratch.path), bytes) << "reading changes nothing";
  journal = scratch.open();
  EXPECT_EQ(broken(), 0u);
  EXPECT_TRUE(journal.check_integrity().empty());
  add_quick(journal, {.workload_class = "n64", .effect = 0.5});
  EXPECT_EQ(found(words).size(), before.size() + 1);
  EXPECT_EQ(found({"sentence~machine went"}).size(), 1u);
  EXPECT_EQ(broken(), 0u);
}

}  // namespace
}  // namespace apo
