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

TEST(Open, AnotherSchemaIsLeftAlone) {
  for (const auto& [version, fix] : {std::pair{"99", "update apo"}, std::pair{"19", "the apo that wrote it"}}) {
    Scratch scratch;
    scratch.open();
    ASSERT_EQ(attack(scratch.path, std::string("PRAGMA user_version = ") + version), "");
    const std::string before = read_file(scratch.path);
    for (const Access access : {Access::read_write, Access::read_only}) {
      const std::string error = open_error(scratch.path, access);
      expect_contains(error, std::string("schema version ") + version);
      expect_contains(error, fix);
    }
    EXPECT_EQ(read_file(scratch.path), before);
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
  complete(database);
  database.execute("PRAGMA max_page_count = 1");  // as few as there are already
  const std::string text(100'000, 'x');
  expect_contains(error_of<EnvironmentError>([&] {
                    database.run("INSERT INTO blob (sha256, kind, bytes) VALUES (?, 'log', ?)",
                                 {std::string(64, 'a'), Value::blob(text)});
                  }),
                  "no room left");
}

}  // namespace
}  // namespace apo
