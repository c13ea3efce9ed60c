// tests/journal/open_test.cpp - what is refused, with which words, and what is left untouched.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "harness/core/system/process.h"
#include "journal/database.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"
#include "journal/implementation.h"
#include "journal/schema/schema.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;
using ::testing::Test;

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string open_error(const std::filesystem::path& path, Access access = Access::read_write) {
  return error_of([&] { Journal::open(path, access); });
}

bool holds_simple(const std::filesystem::path& path) {
  Journal reader = Journal::open(path, Access::read_only);
  return newest_variant(reader, "e88_backward/simple").has_value();
}

TEST(Open, CreatesFoldersAndFile) {
  Scratch scratch;
  scratch.path = scratch.folder.path() / "a" / "b'c %?#" / "journal.db";
  scratch.create();
  EXPECT_TRUE(holds_simple(scratch.path));
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-wal"));
}

// SQLite's numbers of PRAGMA synchronous.
constexpr std::int64_t kOff = 0;
constexpr std::int64_t kFull = 2;

TEST(Open, ATemporaryDatabaseAloneDoesNotWaitForTheDisk) {
  Scratch scratch;
  scratch.create();
  Database written(scratch.path, Access::read_write);
  EXPECT_EQ(written.number("PRAGMA synchronous"), kFull);
  Database temporary(scratch.path.string() + ".temporary", Access::temporary);
  EXPECT_EQ(temporary.number("PRAGMA synchronous"), kOff);
}

TEST(Open, ATemporaryJournalIsOneFileThatOthersCanRead) {
  Scratch scratch;
  Journal journal = Journal::open(scratch.path, Access::temporary);
  add_variant(journal, a_variant("simple"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-wal"));
  EXPECT_TRUE(holds_simple(scratch.path));
}

TEST(Open, ReaderNeedsAJournal) {
  Scratch scratch;
  expect_contains(open_error(scratch.path, Access::read_only), "there is no journal");
  EXPECT_FALSE(std::filesystem::exists(scratch.path));
  write(scratch.path, "");
  expect_contains(open_error(scratch.path, Access::read_only), "is empty");
}

TEST(Open, FileThatIsNotSqliteIsLeftAlone) {
  Scratch scratch;
  write(scratch.path, "my notes about kernels, longer than a header of sixteen bytes");
  for (const Access access : {Access::read_write, Access::read_only}) {
    const std::string error = open_error(scratch.path, access);
    expect_contains(error, scratch.path.string());
    expect_contains(error, "not an SQLite file");
    expect_contains(error, "--journal");
  }
  EXPECT_EQ(read_file(scratch.path), "my notes about kernels, longer than a header of sixteen bytes");
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + ".lock"));
}

TEST(Open, AnotherProgramsDatabaseIsLeftAlone) {
  Scratch scratch;
  for (const std::string mark : {"", "PRAGMA application_id = 7; ", "PRAGMA user_version = 1;"}) {
    std::filesystem::remove(scratch.path);
    ASSERT_EQ(attack(scratch.path, mark + "CREATE TABLE bookmarks (url TEXT)"), "");
    const std::string before = read_file(scratch.path);
    for (const Access access : {Access::read_write, Access::read_only}) {
      expect_contains(open_error(scratch.path, access), "of another program");
    }
    EXPECT_EQ(read_file(scratch.path), before);
    EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + ".lock"));
  }
}

TEST(Open, NewerSchemaIsLeftAlone) {
  Scratch scratch;
  scratch.open();
  ASSERT_EQ(attack(scratch.path, "PRAGMA user_version = 99"), "");
  for (const Access access : {Access::read_write, Access::read_only}) {
    const std::string error = open_error(scratch.path, access);
    expect_contains(error, "schema version 99");
    expect_contains(error, "update apo");
  }
}

TEST(Open, FolderIsRefused) {
  Scratch scratch;
  for (const Access access : {Access::read_write, Access::read_only}) {
    expect_contains(open_error(scratch.folder.path(), access), "is a folder");
  }
  expect_contains(open_error("/dev/null"), "not a regular file");
  EXPECT_NE(open_error(""), "");
  write(scratch.path, "file");
  EXPECT_NE(open_error(scratch.path / "below"), "");
}

TEST(Open, TwoWritersShareAJournalButNotACampaign) {
  Scratch scratch;
  Journal first = scratch.open();
  prepare(first);
  begin_campaign(first, a_campaign());
  Journal second = scratch.open();
  const Campaign open = all_campaigns(second).at(0);
  const std::string error = error_of([&] { take_campaign(second, open); });
  expect_contains(error, "campaign 1 of e88_backward, class n32");
  expect_contains(error, "process " + std::to_string(getpid()));
  expect_contains(error, "--journal");
  const std::int64_t alone = begin_experiment(second, an_experiment(0, 0));
  begin_experiment(first, an_experiment(1, 0));
  for (const Unfinished& one : all_unfinished(first)) {
    EXPECT_TRUE(who_works_on(first, one)) << one.what;
  }
  { const Journal ended = std::move(second); }
  EXPECT_FALSE(who_works_on(first, {.kind = Unfinished::Kind::experiment, .id = alone}));
  { const Journal moved = std::move(first); }
  Journal third = scratch.open();
  EXPECT_FALSE(who_works_on(third, {.kind = Unfinished::Kind::campaign, .id = 1, .campaign = 1}));
  EXPECT_EQ(error_of([&] { take_campaign(third, open); }), "");
}

TEST(Open, ReadersSeeFinishedRowsWhileAWriterWrites) {
  Scratch scratch;
  Journal writer = scratch.open();
  prepare(writer);
  Journal reader = scratch.open(Access::read_only);
  for (int count = 1; count <= 3; ++count) {
    const std::int64_t id = add_quick(writer, {});
    EXPECT_EQ(load_experiment(reader, id).index, 7);
    Journal::Batch batch(writer);
    const std::int64_t hidden = add_quick(writer, {});
    EXPECT_NE(error_of([&] { load_experiment(reader, hidden); }), "");
  }
}

TEST(Open, ReaderCannotWrite) {
  Scratch scratch;
  scratch.create();
  Journal reader = scratch.open(Access::read_only);
  EXPECT_NE(error_of([&] { add_variant(reader, a_variant("third")); }), "");
  EXPECT_FALSE(newest_variant(reader, "e88_backward/third"));
}

TEST(Open, ReadOnlyFileAndFolderCanBeReadAndSayWhyTheyCannotBeWritten) {
  Scratch scratch;
  scratch.create();
  std::filesystem::remove(scratch.path.string() + ".lock");
  std::filesystem::permissions(scratch.path, std::filesystem::perms{0444});
  const auto refused = [](const std::filesystem::path& path) {
    const std::string error = open_error(path);
    return contains(error, path.string()) && contains(error, "cannot write") && contains(error, "--journal");
  };
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), holds_simple, scratch.path), 0);
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), refused, scratch.path), 0);
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), refused, scratch.folder.path() / "new.db"), 0);
}

TEST(Open, ReadOnlyFileInAWritableFolderIsRefusedForWriting) {
  Scratch scratch;
  scratch.create();
  std::filesystem::permissions(scratch.path, std::filesystem::perms{0444});
  const auto refused = [](const std::filesystem::path& path) {
    return contains(open_error(path), "is read-only") || contains(open_error(path), "cannot write");
  };
  std::filesystem::permissions(scratch.path.string() + ".lock", std::filesystem::perms::all);
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), refused, scratch.path), 0);
}

TEST(Open, EmptyFileLeftByAKilledCreationIsFilled) {
  Scratch scratch;
  write(scratch.path, "");
  scratch.create();
  std::filesystem::remove(scratch.path);
  ASSERT_EQ(attack(scratch.path, "PRAGMA journal_mode = WAL"), "");  // created, schema not written yet
  expect_contains(open_error(scratch.path, Access::read_only), "never filled");
  EXPECT_EQ(open_error(scratch.path), "");
}

// The message of what went wrong in a process of its own that opens the journal as soon as `start` closes.
std::string open_beside_others(const Scratch& scratch, Access access, int start) {
  char nothing = 0;
  [[maybe_unused]] const ssize_t closed = read(start, &nothing, 1);
  const std::string error = open_error(scratch.path, access);
  const bool is_early = contains(error, "there is no journal") || contains(error, "is empty");
  return access == Access::read_only && is_early ? "" : error;
}

TEST(Open, ManyProcessesFillOneNewJournalWhileOthersLookAtIt) {
  for (int round = 0; round < 4; ++round) {
    const Scratch scratch;
    int start[2] = {};
    ASSERT_EQ(pipe(start), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 12; ++i) {
      children.push_back(fork());
      if (children.back() == 0) {
        close(start[1]);
        const std::string error =
            open_beside_others(scratch, i % 3 == 0 ? Access::read_only : Access::read_write, start[0]);
        std::fputs(error.c_str(), stderr);
        _exit(error.empty() ? 0 : 1);
      }
    }
    close(start[0]);
    close(start[1]);
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
}

TEST(Open, AlteredBlobIsFoundByTheIntegrityCheck) {
  Scratch scratch;
  scratch.create();
  ASSERT_EQ(attack(scratch.path, "DROP TRIGGER blob_no_UPDATE; UPDATE blob SET bytes = x'00' WHERE kind = 'source'"),
            "");
  const std::vector<std::string> findings = scratch.open(Access::read_only).check_integrity();
  ASSERT_EQ(findings.size(), 2u);
  expect_contains(findings[0], "other bytes");
}

TEST(Open, LimitOfPagesReadsAsAFullDisk) {
  Scratch scratch;
  Database database(scratch.path, Access::read_write);
  create_or_upgrade(database);
  database.execute("PRAGMA max_page_count = 1");  // as few as there are already
  const std::string text(100'000, 'x');
  expect_contains(error_of<EnvironmentError>([&] {
                    database.run("INSERT INTO blob (sha256, kind, bytes) VALUES (?, 'log', ?)",
                                 {std::string(64, 'a'), Value::blob(text)});
                  }),
                  "no room left");
}

// A journal as the last release wrote it, with a row in every table.
void create_version_19(const Scratch& scratch) {
  ASSERT_EQ(
      run_process({"sh", "-c",
                   "xz -dc '" APO_SOURCE_FOLDER "/tests/journal/version_19.db.xz' > '" + scratch.path.string() + "'"},
                  {.timeout_s = 1000})
          .exit_code,
      0);
}

std::vector<std::string> rows_of(const std::filesystem::path& path, const std::string& sql) {
  return Database(path, Access::read_only).texts(sql);
}

TEST(Upgrade, AReaderOfTheLastReleasesJournalIsToldTheCommandAndChangesNothing) {
  const Scratch scratch;
  create_version_19(scratch);
  const std::string before = read_file(scratch.path);
  const std::string error = open_error(scratch.path, Access::read_only);
  expect_contains(error, "schema version 19");
  expect_contains(error, "apo doctor --upgrade --journal " + scratch.path.string());
  EXPECT_EQ(read_file(scratch.path), before);
}

TEST(Upgrade, LaysOutTheFileAsANewOneAndKeepsEveryRow) {
  const Scratch scratch;
  create_version_19(scratch);
  const Scratch old;
  std::filesystem::copy_file(scratch.path, old.path);
  EXPECT_EQ(open_error(scratch.path), "");
  const Scratch fresh;
  fresh.open();
  const std::string layout = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1";
  EXPECT_EQ(rows_of(scratch.path, layout), rows_of(fresh.path, layout));
  const std::vector<std::string> tables =
      rows_of(fresh.path, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
  EXPECT_GT(tables.size(), 50U);
  const auto together = [](const std::string& one, const std::string& other) {
    return "(SELECT 1 FROM " + one + " UNION ALL SELECT 1 FROM " + other + ")";
  };
  const std::map<std::string, std::string> elsewhere = {
      {"certification_solo_run", "certification_segment"},
      {"round", together("round", "command_round")},
      {"comparison", together("command_comparison", "application_comparison")},
      {"comparison_commands", "command_comparison"},
      {"comparison_run", "application_run"},
      {"comparison_verdict", together("command_verdict", "application_verdict")},
      {"comparison_expectation", "application_verdict"},
      // A speed and a start-up; the commands were not timed.
      {"comparison_figure", together(together("application_speed", "application_speed"), "application_quality")}};
  for (const std::string& table : tables) {
    if (table == "wrong_case" || table == "scanned" || table == "profiled_launch") {
      continue;  // version 19 has nothing like them
    }
    const std::string before = elsewhere.contains(table) ? elsewhere.at(table) : table;
    const std::vector<std::string> count = rows_of(scratch.path, "SELECT count(*) FROM " + table);
    EXPECT_EQ(count, rows_of(old.path, "SELECT count(*) FROM " + before)) << table;
    EXPECT_NE(count.front(), "0") << table;
  }
  EXPECT_TRUE(scratch.open().check_integrity().empty());
}

TEST(Upgrade, WhatChangedItsNameOrItsTableSaysTheSame) {
  const Scratch scratch;
  create_version_19(scratch);
  Journal journal = scratch.open();
  const Campaign campaign = find_campaign(journal, 1).value();
  EXPECT_EQ(load_comparison(journal, 1).commands.metric, "seconds");
  EXPECT_EQ(load_comparison(journal, 1).rounds.front().commands->runs.size(), 2U);
  const ProgramComparison by_application = load_comparison(journal, 2);  // its number was 1, too
  EXPECT_EQ(by_application.application.seeds, (std::vector<std::int64_t>{-7, 2}));
  EXPECT_EQ(by_application.application.time_limit_s, 600);
  EXPECT_EQ(by_application.runs.front().values.at("loss"), 1);
  EXPECT_EQ(by_application.judgement->verdict, Verdict::reverted);
  EXPECT_EQ(by_application.figures.at(2).finding, QualityFinding::inconclusive);
  EXPECT_EQ(campaign.policy.judge_preset, a_campaign().policy.judge_preset);
  EXPECT_EQ(campaign.policy.layout, a_campaign().policy.layout);
  EXPECT_EQ(profiles_of_iteration(journal, 1).at(0).conditions, "L2 flushed");
  const ResearchBrief brief = load_brief(journal, 1);
  EXPECT_EQ(brief.bottlenecks.at(0).kind, BottleneckKind::cause);
  EXPECT_EQ(brief.bottlenecks.at(0).file, "a.cu");
  EXPECT_EQ(brief.bottlenecks.at(0).line, 7);
  EXPECT_EQ(brief.bottlenecks.at(1).file, "");
  EXPECT_EQ(brief.ranked.at(0).prediction.source, PredictionSource::idea);
  EXPECT_EQ(brief.left_out.at(0).kind, LeftOutKind::refuted);
  EXPECT_EQ(load_experiment(journal, 1).prediction.source, PredictionSource::idea);
  EXPECT_EQ(load_experiment(journal, 3).prediction.source, PredictionSource::measurements);
  EXPECT_EQ(load_experiment(journal, 3).judgement->preset, an_experiment(0, 0).judgement->preset);
  EXPECT_TRUE(certifications_of(journal, 1).at(0).clock);
  EXPECT_EQ(rows_of(scratch.path, "SELECT workload FROM certification_solo_run").at(0), "w");
  EXPECT_EQ(newest_variant(journal, "e88_backward/padded_cache")->source, a_variant("padded_cache").source);
  EXPECT_EQ(interrupted_experiments(journal).size(), 1U);
}

TEST(Upgrade, OneThatFailsChangesNothing) {
  const Scratch scratch;
  create_version_19(scratch);
  ASSERT_EQ(attack(scratch.path, "DROP TABLE ranking_kind"), "");
  const std::string layout = "SELECT coalesce(sql, '') FROM sqlite_schema";
  const std::vector<std::string> before = rows_of(scratch.path, layout);
  EXPECT_THROW(scratch.open(), std::logic_error);
  EXPECT_EQ(rows_of(scratch.path, layout), before);
  EXPECT_EQ(rows_of(scratch.path, "PRAGMA user_version"), std::vector<std::string>{"19"});
}

TEST(Upgrade, WhatIsOlderThanTheLastReleaseIsRefusedAndLeftAlone) {
  const Scratch scratch;
  create_version_19(scratch);
  ASSERT_EQ(attack(scratch.path, "PRAGMA user_version = 18"), "");
  for (const Access access : {Access::read_write, Access::read_only}) {
    expect_contains(open_error(scratch.path, access), "upgrades versions from 19 on");
  }
  EXPECT_EQ(rows_of(scratch.path, "PRAGMA user_version"), std::vector<std::string>{"18"});
}

}  // namespace
}  // namespace apo
