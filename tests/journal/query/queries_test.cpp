// tests/journal/query/queries_test.cpp - what 'apo query' finds, refuses and never executes.
#include "journal/query/queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/core/hash.h"
#include "journal/facts/experiments.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

// Five judged experiments, one open one.
class Queries : public ::testing::Test {
 protected:
  void SetUp() override {
    Journal::Batch batch(journal);
    prepare(journal);
    add_quick(journal,
              {.verdict = Verdict::reverted, .effect = -0.10, .setting = 1, .started_at = "2026-01-01T00:00:00Z"});
    add_quick(journal, {.technique = "cp-async",
                        .verdict = Verdict::accepted,
                        .effect = 0.20,
                        .setting = 2,
                        .started_at = "2026-01-31T23:59:59Z"});
    add_quick(journal, {.workload_class = "n64",
                        .verdict = Verdict::reverted,
                        .effect = 0.001,
                        .setting = 3,
                        .started_at = "2026-02-01T00:00:00Z"});
    add_quick(journal, {.workload_class = "a,b\\c",
                        .technique = kAwkward,
                        .verdict = Verdict::inconclusive,
                        .effect = 0.01,
                        .setting = 4,
                        .started_at = "2026-03-01T00:00:00Z"});
    Experiment failed = an_experiment(0, 0);
    failed.outcome = Outcome::incorrect;
    failed.judgement = {.verdict = Verdict::reverted, .reason = Reason::gate_failed, .sentence = "NaN in dS"};
    failed.candidate_build.resources = {{"registers", 255}};
    failed.id = begin_experiment(journal, failed);
    finish_experiment(journal, failed);
    begin_experiment(journal, an_experiment(0, 0));
    batch.commit();
  }

  std::vector<std::int64_t> ids(std::vector<std::string> words) {
    words.push_back("columns=id");
    std::vector<std::int64_t> result;
    for (const auto& row : run_query(journal, parse_query(words)).rows) {
      result.push_back(std::get<std::int64_t>(row.at(0)));
    }
    return result;
  }

  std::vector<std::int64_t> sorted(const std::vector<std::string>& words) {
    std::vector<std::int64_t> result = ids(words);
    std::sort(result.begin(), result.end());
    return result;
  }

  Scratch scratch;
  Journal journal = scratch.open();
};

using Ids = std::vector<std::int64_t>;

TEST_F(Queries, EachKindOfPredicateSelects) {
  EXPECT_EQ(ids({}), (Ids{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(sorted({"family=e88_backward"}).size(), 6u);
  EXPECT_EQ(sorted({"family=copy"}), Ids{});
  EXPECT_EQ(sorted({"verdict=reverted"}), (Ids{1, 3, 5}));
  EXPECT_EQ(sorted({"verdict!=reverted"}), (Ids{2, 4}));
  EXPECT_EQ(sorted({"verdict=reverted,accepted"}), (Ids{1, 2, 3, 5}));
  EXPECT_EQ(sorted({"verdict!=reverted,accepted"}), Ids{4});
  EXPECT_EQ(sorted({"speedup<1"}), Ids{1});
  EXPECT_EQ(sorted({"speedup>=1", "speedup<=1.1"}), (Ids{3, 4}));
  EXPECT_EQ(sorted({"technique=padded-cache"}), (Ids{1, 3, 5, 6}));
  EXPECT_EQ(sorted({"technique!=padded-cache"}), (Ids{2, 4}));
  EXPECT_EQ(sorted({"technique~ASYNC"}), Ids{2});
  EXPECT_EQ(sorted({"workload=n64"}), Ids{3});
  EXPECT_EQ(sorted({"workload=b1_n64"}), Ids{3});
  EXPECT_EQ(sorted({"class=n64"}), Ids{3});
  EXPECT_EQ(sorted({"machine~xeon"}).size(), 6u);
  EXPECT_EQ(sorted({"machine=cpu-1"}).size(), 6u);
  EXPECT_EQ(sorted({"machine=cpu-2"}), Ids{});
  EXPECT_EQ(sorted({"outcome=incorrect"}), Ids{5});
  EXPECT_EQ(sorted({"reason=gate_failed"}), Ids{5});
  EXPECT_EQ(sorted({"state=running"}), Ids{6});
  EXPECT_EQ(sorted({"sentence~nan in"}), Ids{5});
  EXPECT_EQ(sorted({"id>2", "id<=4"}), (Ids{3, 4}));
  EXPECT_EQ(sorted({"candidate~k=3"}), Ids{3});
  EXPECT_EQ(sorted({"incumbent=e88_backward/simple"}).size(), 6u);
}

TEST_F(Queries, TheColumnWorkloadNamesWorkloadsAndNotTheirClass) {
  const Table table = run_query(journal, parse_query({"id=3", "columns=workload,class"}));
  EXPECT_EQ(std::get<std::string>(table.rows.at(0).at(0)), "b1_n64");
  EXPECT_EQ(std::get<std::string>(table.rows.at(0).at(1)), "n64");
  EXPECT_EQ(run_query(journal, parse_query({"sort=workload", "columns=id"})).rows.size(), 6u);
}

TEST_F(Queries, DatesIncludeTheirWholeDay) {
  EXPECT_EQ(sorted({"since=2026-02-01", "until=2026-02-01"}), Ids{3});
  EXPECT_EQ(sorted({"until=2026-01-31"}), (Ids{1, 2}));
  EXPECT_EQ(sorted({"since=2026-01-31T23:59:59Z", "until=2026-02-01T00:00:00Z"}), (Ids{2, 3}));
}

TEST_F(Queries, MetricsAreBuildResourcesAndProfiles) {
  EXPECT_EQ(sorted({"metric:registers>200"}), Ids{5});
  EXPECT_EQ(sorted({"metric:registers<=200"}), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(sorted({"metric:gflops>1e9"}), Ids{});
  add_profile(
      journal,
      {.configuration = {"e88_backward/padded_cache", {{"K", 3}}}, .metrics = {{"gflops", 2e9, "flop/s", {}, {}, 1}}},
      {.machine = "cpu-1"});
  EXPECT_EQ(sorted({"metric:gflops>1e9"}), Ids{3});
  EXPECT_EQ(sorted({"metric:gflops>3e9"}), Ids{});
}

TEST_F(Queries, HardwareCountersAreMetricsOfTheProfiledSource) {
  Profile profile{.configuration = {"e88_backward/padded_cache", {{"K", 3}}},
                  .workload = "w",
                  .metrics = {{"dram__bytes_read.sum", 2e9, "byte", {}, {}, 1}}};
  const Variant edited = [] {
    Variant variant = a_variant("padded_cache");
    variant.source += " edited";
    variant.source_hash = sha256(variant.source);
    return variant;
  }();
  add_variant(journal, edited);
  add_profile(journal, profile, {.machine = "cpu-1", .source_hash = edited.source_hash});
  EXPECT_EQ(sorted({"metric:dram__bytes_read.sum>1e9"}), Ids{}) << "the candidate was another source";
  const std::string source = a_variant("padded_cache").source_hash;
  EXPECT_FALSE(newest_profile(journal, profile.configuration, "w", {.machine = "cpu-1", .source_hash = source}));
  add_profile(journal, profile, {.machine = "cpu-1", .source_hash = source});
  EXPECT_EQ(sorted({"metric:dram__bytes_read.sum>1e9"}), Ids{3});
  EXPECT_EQ(sorted({"metric:dram__bytes_read.sum>3e9"}), Ids{});
  EXPECT_TRUE(newest_profile(journal, profile.configuration, "w", {.machine = "cpu-1", .source_hash = source}));
  EXPECT_FALSE(newest_profile(journal, profile.configuration, "v", {.machine = "cpu-1", .source_hash = source}));
}

TEST_F(Queries, SortsLimitsAndPicksColumns) {
  EXPECT_EQ(ids({"sort=-speedup"}), (Ids{2, 4, 3, 1}));
  EXPECT_EQ(ids({"sort=speedup", "limit=2"}), (Ids{1, 3}));
  EXPECT_EQ(ids({"sort=class,-id"}), (Ids{4, 6, 5, 2, 1, 3}));
  const Table cut = run_query(journal, parse_query({"limit=2", "columns=id,verdict,speedup,class"}));
  EXPECT_TRUE(cut.more);
  ASSERT_EQ(cut.columns.size(), 4u);
  EXPECT_EQ(cut.columns[2], "speedup");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cut.rows[0][1]));
  EXPECT_FALSE(run_query(journal, parse_query({"limit=6"})).more);
  EXPECT_FALSE(run_query(journal, parse_query({"limit=0"})).more);
  EXPECT_EQ(run_query(journal, parse_query({})).columns.front(), "id");
}

TEST_F(Queries, EveryKeyCanBeAskedShownAndSorted) {
  for (const QueryKey& key : query_keys()) {
    const std::string name(key.name);
    if (name == "metric:NAME" || name == "since" || name == "until") {
      continue;
    }
    EXPECT_NO_THROW(run_query(journal, parse_query({"columns=" + name, "sort=-" + name}))) << name;
    EXPECT_FALSE(key.meaning.empty());
    const bool closed =
        name == "verdict" || name == "outcome" || name == "reason" || name == "state" || name == "bottleneck_kind";
    if (!closed) {
      EXPECT_NO_THROW(run_query(journal, parse_query({name + "!=1"}))) << name;
    }
  }
}

TEST_F(Queries, HostileValuesAreOnlyValues) {
  EXPECT_EQ(sorted({"family='; DROP TABLE experiment; --"}), Ids{});
  EXPECT_EQ(sorted({"variant=x' OR '1'='1"}), Ids{});
  EXPECT_EQ(sorted({"technique=" + std::string(kAwkward)}), Ids{4});
  EXPECT_EQ(sorted({"technique~DROP TABLE"}), Ids{4});
  EXPECT_EQ(sorted({"metric:x') OR 1; -->1"}), Ids{});
  EXPECT_EQ(sorted({"sentence~%"}), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(sorted({"class=a\\,b\\\\c"}), Ids{4});
  EXPECT_EQ(sorted({"variant=" + std::string(100'000, 'x')}), Ids{});
  EXPECT_EQ(ids({}).size(), 6u);
  EXPECT_TRUE(journal.check_integrity().empty());
}

TEST_F(Queries, BlanksRoundTheOperatorMeanNothing) {
  EXPECT_EQ(sorted({"speedup > 1"}), sorted({"speedup>1"}));
  EXPECT_FALSE(sorted({"speedup > 1"}).empty());
  EXPECT_EQ(sorted({"technique = " + std::string(kAwkward)}), Ids{4});
  expect_contains(error_of([] { parse_query({" = x"}); }), "is not a predicate");
}

TEST_F(Queries, MistakesSayWhatIsWrongAndWhatIsMeant) {
  const auto error = [](const std::string& word) { return error_of([&] { parse_query({word}); }); };
  expect_contains(error("verdct=accepted"), "unknown key 'verdct'");
  expect_contains(error("verdct=accepted"), "did you mean 'verdict'?");
  expect_contains(error("verdict=acepted"), "did you mean 'accepted'?");
  expect_contains(error("outcome=wrong"), "known: valid, refused");
  expect_contains(error("speedup<fast"), "'fast' in 'speedup<fast' is not a number");
  expect_contains(error("speedup<nan"), "not a number");
  expect_contains(error("speedup<1.1x"), "not a number");
  expect_contains(error("rounds=1.5"), "not a whole number");
  expect_contains(error("id=99999999999999999999"), "not a whole number");
  expect_contains(error("family<x"), "use =, != or ~");
  expect_contains(error("verdict~acc"), "use = or !=");
  expect_contains(error("speedup~1"), "does not apply");
  expect_contains(error("since>2026-01-01"), "write since=2026-01-01");
  for (const char* date : {"yesterday", "2026-13-01", "2026-02-29", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z"}) {
    EXPECT_TRUE(contains(error("since=" + std::string(date)), "is not a date")) << date;
  }
  expect_contains(error("since=2026-01-01,2026-02-01"), "several values");
  expect_contains(error("speedup<1,2"), "several values");
  expect_contains(error("e88_backward"), "is not a predicate");
  expect_contains(error("=x"), "is not a predicate");
  expect_contains(error("speedup!1"), "is not a predicate");
  expect_contains(error("family="), "names no value");
  expect_contains(error("family=a,,b"), "names no value");
  expect_contains(error("metric:=1"), "unknown key");
  expect_contains(error("sort=sped"), "unknown column 'sped'");
  expect_contains(error("sort=id;DROP"), "unknown column");
  expect_contains(error("columns=id,(SELECT 1)"), "unknown column");
  expect_contains(error("columns=since"), "unknown column");
  expect_contains(error("limit=-1"), "is no limit");
  expect_contains(error("limit>5"), "write limit=5");
}

// ---------------------------------------------------------------- SQL

class Sql : public Queries {
 protected:
  std::string error(const std::string& sql, const SqlLimits& limits = {}) {
    return error_of([&] { run_sql(scratch.path, sql, limits); });
  }
};

TEST_F(Sql, SelectsWithTypes) {
  const Table table =
      run_sql(scratch.path,
              "-- a comment\n; WITH best AS (SELECT max(speedup) s FROM experiments) SELECT id, speedup, "
              "verdict, NULL AS none, x'00ff' AS bytes FROM experiments, best WHERE speedup = s; -- end");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][0]), 2);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][1]), std::exp(0.2));
  EXPECT_EQ(std::get<std::string>(table.rows[0][2]), "accepted");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[0][3]));
  EXPECT_EQ(std::get<std::string>(table.rows[0][4]), "blob of 2 bytes");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"id", "speedup", "verdict", "none", "bytes"}));
}

TEST_F(Sql, WhateverWritesIsRefused) {
  const std::string other = (scratch.folder.path() / "other.db").string();
  for (const std::string& sql :
       {std::string("DELETE FROM experiment"), std::string("DROP TABLE experiment"),
        std::string("INSERT INTO blob VALUES (1, 2, 3)"), std::string("UPDATE experiment SET family = 'x'"),
        std::string("UPDATE sqlite_master SET type = 'x'"), std::string("PRAGMA user_version = 5"),
        std::string("PRAGMA journal_mode = DELETE"), std::string("PRAGMA writable_schema = ON"),
        "ATTACH '" + other + "' AS other", "VACUUM INTO '" + other + "'", std::string("BEGIN"),
        std::string("CREATE TEMP TABLE t (a)"), std::string("SELECT load_extension('x')")}) {
    EXPECT_NE(error(sql), "") << sql;
  }
  expect_contains(error("DROP TABLE experiment"), "may do more than read");
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(ids({}).size(), 6u);
}

TEST_F(Sql, DescribesTablesAndReadsJson) {
  EXPECT_EQ(run_sql(scratch.path, "SELECT name FROM pragma_table_info('gate')").rows.size(), 6u);
  EXPECT_EQ(run_sql(scratch.path, "PRAGMA table_info('gate')").rows.size(), 6u);
  EXPECT_EQ(run_sql(scratch.path, "SELECT value FROM json_each('[1, 2]')").rows.size(), 2u);
  EXPECT_FALSE(run_sql(scratch.path, "EXPLAIN QUERY PLAN SELECT * FROM experiments").rows.empty());
}

TEST_F(Sql, OneStatementOnly) {
  expect_contains(error("SELECT 1; SELECT 2"), "more than one");
  expect_contains(error("SELECT 1; DROP TABLE experiment"), "may do more than read");
  expect_contains(error(""), "there is no SQL");
  expect_contains(error(" ; -- nothing\n"), "there is no SQL");
  expect_contains(error(std::string("SELECT 1\0 DROP", 14)), "zero byte");
}

TEST_F(Sql, MistakesAreExplained) {
  expect_contains(error("SELEC 1"), "syntax error");
  expect_contains(error("SELECT nonsense FROM experiments"), "no such column: nonsense");
  EXPECT_TRUE(
      contains(error_of([&] { run_sql(scratch.folder.path() / "none.db", "SELECT 1"); }), "there is no journal"));
}

TEST_F(Sql, EndlessAndHugeAnswersAreStopped) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  expect_contains(error(endless + "count(*) FROM n", {.seconds = 0.1}), "took too long");
  expect_contains(error("SELECT length(randomblob(1000000000))"), "too large");
  const Table cut = run_sql(scratch.path, endless + "i FROM n", {.rows = 10});
  EXPECT_EQ(cut.rows.size(), 10u);
  EXPECT_TRUE(cut.more);
}

TEST_F(Sql, LeavesNoFilesBehind) {
  { const Journal gone = std::move(journal); }
  run_sql(scratch.path, "SELECT count(*) FROM experiments");
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-shm"));
}

}  // namespace
}  // namespace apo
