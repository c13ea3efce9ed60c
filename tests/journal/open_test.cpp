// tests/journal/open_test.cpp - what is refused, with which words, and what is left untouched.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "journal/database.h"
#include "journal/implementation.h"
#include "journal/schema/migrations.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;
using ::testing::Test;

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string open_error(const std::filesystem::path& path, Access access = Access::read_write) {
  return user_error([&] { Journal::open(path, access); });
}

TEST(Open, CreatesFoldersAndFile) {
  Scratch scratch;
  scratch.path = scratch.folder.path() / "a" / "b'c %?#" / "journal.db";
  scratch.create();
  EXPECT_TRUE(scratch.open(Access::read_only).newest_variant("e88_backward/simple"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-wal"));
}

// SQLite's numbers of PRAGMA synchronous.
constexpr std::int64_t kOff = 0;
constexpr std::int64_t kFull = 2;

std::int64_t synchronous(Database& database) {
  Statement row = database.query("PRAGMA synchronous");
  return row.step() ? row.integer() : -1;
}

TEST(Open, ATemporaryDatabaseAloneDoesNotWaitForTheDisk) {
  Scratch scratch;
  scratch.create();
  Database written(scratch.path, Database::Mode::write);
  EXPECT_EQ(synchronous(written), kFull);
  Database temporary(scratch.path.string() + ".temporary", Database::Mode::temporary);
  EXPECT_EQ(synchronous(temporary), kOff);
}

TEST(Open, ATemporaryJournalIsOneFileThatOthersCanRead) {
  Scratch scratch;
  Journal journal = Journal::open(scratch.path, Access::temporary);
  journal.add_variant(a_variant("simple"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path.string() + "-wal"));
  EXPECT_TRUE(scratch.open(Access::read_only).newest_variant("e88_backward/simple"));
}

TEST(Open, ReaderNeedsAJournal) {
  Scratch scratch;
  EXPECT_TRUE(tells(open_error(scratch.path, Access::read_only), "there is no journal"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path));
  write(scratch.path, "");
  EXPECT_TRUE(tells(open_error(scratch.path, Access::read_only), "is empty"));
}

TEST(Open, FileThatIsNotSqliteIsLeftAlone) {
  Scratch scratch;
  write(scratch.path, "my notes about kernels, longer than a header of sixteen bytes");
  for (const Access access : {Access::read_write, Access::read_only}) {
    const std::string error = open_error(scratch.path, access);
    EXPECT_TRUE(tells(error, scratch.path.string())) << error;
    EXPECT_TRUE(tells(error, "not an SQLite file")) << error;
    EXPECT_TRUE(tells(error, "--journal")) << error;
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
      EXPECT_TRUE(tells(open_error(scratch.path, access), "of another program"));
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
    EXPECT_TRUE(tells(error, "schema version 99")) << error;
    EXPECT_TRUE(tells(error, "update apo")) << error;
  }
}

TEST(Open, FolderIsRefused) {
  Scratch scratch;
  for (const Access access : {Access::read_write, Access::read_only}) {
    EXPECT_TRUE(tells(open_error(scratch.folder.path(), access), "is a folder"));
  }
  EXPECT_TRUE(tells(open_error("/dev/null"), "not a regular file"));
  EXPECT_NE(open_error(""), "");
  write(scratch.path, "file");
  EXPECT_NE(open_error(scratch.path / "below"), "");
}

// Programs of before version 6 locked the whole file.
TEST(Open, AnOlderProgramThatWritesIsNamed) {
  Scratch scratch;
  scratch.create();
  const FileDescriptor lock(open((scratch.path.string() + ".lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  const std::string error = open_error(scratch.path);
  EXPECT_TRUE(tells(error, "process " + std::to_string(getpid()))) << error;
  EXPECT_TRUE(tells(error, scratch.path.string())) << error;
  std::filesystem::create_symlink(scratch.path, scratch.folder.path() / "alias.db");
  EXPECT_NE(open_error(scratch.folder.path() / "alias.db"), "");
  ASSERT_EQ(flock(lock.get(), LOCK_UN), 0);
  const Journal writer = scratch.open();
  EXPECT_NE(flock(lock.get(), LOCK_EX | LOCK_NB), 0) << "and is kept away from one that others share";
}

TEST(Open, TwoWritersShareAJournalButNotACampaign) {
  Scratch scratch;
  Journal first = scratch.open();
  prepare(first);
  first.begin_campaign(a_campaign());
  Journal second = scratch.open();
  const Campaign open = second.open_campaigns().at(0);
  const std::string error = user_error([&] { second.take_campaign(open); });
  EXPECT_TRUE(tells(error, "campaign 1 of e88_backward, class n32")) << error;
  EXPECT_TRUE(tells(error, "process " + std::to_string(getpid()))) << error;
  EXPECT_TRUE(tells(error, "--journal")) << error;
  const std::int64_t alone = second.begin_experiment(an_experiment(0, 0));
  first.begin_experiment(an_experiment(1, 0));
  for (const Unfinished& one : first.unfinished()) {
    EXPECT_TRUE(first.who_works_on(one)) << one.what;
  }
  { const Journal ended = std::move(second); }
  EXPECT_FALSE(first.who_works_on({.kind = Unfinished::Kind::experiment, .id = alone}));
  { const Journal moved = std::move(first); }
  Journal third = scratch.open();
  EXPECT_FALSE(third.who_works_on({.kind = Unfinished::Kind::campaign, .id = 1, .campaign = 1}));
  EXPECT_EQ(user_error([&] { third.take_campaign(open); }), "");
}

TEST(Open, ReadersSeeFinishedRowsWhileAWriterWrites) {
  Scratch scratch;
  Journal writer = scratch.open();
  prepare(writer);
  Journal reader = scratch.open(Access::read_only);
  for (int count = 1; count <= 3; ++count) {
    const std::int64_t id = add_quick(writer, {});
    EXPECT_EQ(reader.load_experiment(id).index, 7);
    Journal::Batch batch(writer);
    const std::int64_t hidden = add_quick(writer, {});
    EXPECT_NE(user_error([&] { reader.load_experiment(hidden); }), "");
  }
}

TEST(Open, ReaderCannotWrite) {
  Scratch scratch;
  scratch.create();
  Journal reader = scratch.open(Access::read_only);
  EXPECT_NE(user_error([&] { reader.add_variant(a_variant("third")); }), "");
  EXPECT_FALSE(reader.newest_variant("e88_backward/third"));
}

TEST(Open, ReadOnlyFileAndFolderCanBeReadAndSayWhyTheyCannotBeWritten) {
  Scratch scratch;
  scratch.create();
  std::filesystem::remove(scratch.path.string() + ".lock");
  std::filesystem::permissions(scratch.path, std::filesystem::perms{0444});
  const auto readable = [](const std::filesystem::path& path) {
    return Journal::open(path, Access::read_only).newest_variant("e88_backward/simple").has_value();
  };
  const auto refused = [](const std::filesystem::path& path) {
    const std::string error = open_error(path);
    return tells(error, path.string()) && tells(error, "cannot write") && tells(error, "--journal");
  };
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), readable, scratch.path), 0);
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), refused, scratch.path), 0);
  EXPECT_EQ(as_ordinary_user(scratch.folder.path(), refused, scratch.folder.path() / "new.db"), 0);
}

TEST(Open, ReadOnlyFileInAWritableFolderIsRefusedForWriting) {
  Scratch scratch;
  scratch.create();
  std::filesystem::permissions(scratch.path, std::filesystem::perms{0444});
  const auto refused = [](const std::filesystem::path& path) {
    return tells(open_error(path), "is read-only") || tells(open_error(path), "cannot write");
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
  EXPECT_TRUE(tells(open_error(scratch.path, Access::read_only), "never filled"));
  EXPECT_EQ(open_error(scratch.path), "");
}

TEST(Open, DamagedFileIsFoundByTheIntegrityCheck) {
  Scratch scratch;
  {
    Journal journal = scratch.open();
    prepare(journal);
    for (int count = 0; count < 50; ++count) {
      add_quick(journal, {.setting = count});
    }
    EXPECT_TRUE(journal.check_integrity().empty());
  }
  std::string bytes = read_file(scratch.path);
  for (std::size_t offset = bytes.size() / 2; offset < bytes.size() / 2 + 4096; ++offset) {
    bytes[offset] = static_cast<char>(~bytes[offset]);
  }
  write(scratch.path, bytes);
  bool found = false;
  const std::string error =
      environment_error([&] { found = !scratch.open(Access::read_only).check_integrity().empty(); });
  EXPECT_TRUE(found || tells(error, "damaged")) << error;

  write(scratch.path, bytes.substr(0, 5000));  // the header's page and a bit
  std::string damage;
  const std::string mistake = user_error([&] {
    damage = environment_error([&] {
      Journal journal = scratch.open();
      EXPECT_FALSE(journal.check_integrity().empty());
    });
  });
  EXPECT_TRUE(damage.empty() || tells(damage, "damaged")) << damage;
  EXPECT_TRUE(mistake.empty() || tells(mistake, "not an SQLite")) << mistake;
}

TEST(Open, AlteredBlobIsFoundByTheIntegrityCheck) {
  Scratch scratch;
  scratch.create();
  ASSERT_EQ(attack(scratch.path, "DROP TRIGGER blob_no_UPDATE; UPDATE blob SET bytes = x'00' WHERE kind = 'source'"),
            "");
  const std::vector<std::string> findings = scratch.open(Access::read_only).check_integrity();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_TRUE(tells(findings[0], "other bytes"));
}

// The kernel refuses what grows a file past the limit, as a full disk does.
bool writes_until_full(const std::filesystem::path& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  Journal journal = Journal::open(path, Access::read_write);
  const rlimit limit{1 << 20, 1 << 20};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::string error;
  std::int64_t finished = 0;
  for (int count = 0; count < 5000 && error.empty(); ++count) {
    error = environment_error([&] { finished = add_quick(journal, {.setting = count}); });
  }
  if (!tells(error, "no room left")) {
    std::fprintf(stderr, "%d experiments, then '%s'\n", static_cast<int>(finished), error.c_str());
  }
  return finished > 0 && tells(error, "no room left") && tells(error, path.string()) &&
         journal.load_experiment(finished).judgement.has_value();
}

TEST(Open, FullDiskIsTheEnvironmentsAndKeepsEveryFinishedRow) {
  Scratch scratch;
  scratch.create();
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(writes_until_full(scratch.path) ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Journal journal = scratch.open();
  EXPECT_TRUE(journal.check_integrity().empty());
  EXPECT_LE(journal.unfinished().size(), 1u);
  EXPECT_GT(add_quick(journal, {}), 1);
}

TEST(Open, LimitOfPagesReadsAsAFullDisk) {
  Scratch scratch;
  Database database(scratch.path, Database::Mode::create);
  migrate(database, migrations());
  database.execute("PRAGMA max_page_count = 1");  // as few as there are already
  const std::string text(100'000, 'x');
  EXPECT_TRUE(tells(environment_error([&] {
                      database.run("INSERT INTO blob (sha256, kind, bytes) VALUES (?, 'log', ?)",
                                   {std::string(64, 'a'), Value::blob(text)});
                    }),
                    "no room left"));
}

std::vector<std::string> with_one_more(const std::string& step) {
  std::vector<std::string> steps(migrations().begin(), migrations().end());
  steps.push_back(step);
  return steps;
}

// A journal as the first version wrote it, with two variants.
void create_first_version(const Scratch& scratch) {
  Database database(scratch.path, Database::Mode::create);
  migrate(database, migrations().first(1));
  for (const char* name : {"simple", "padded_cache"}) {
    const Variant variant = a_variant(name);
    database.run("INSERT INTO blob (sha256, kind, bytes) VALUES (?, 'source', ?)",
                 {variant.source_hash, Value::blob(variant.source)});
    database.run(
        "INSERT INTO variant (source_hash, id, family, name, target, arch, parent, idea, has_prediction,"
        " predicted_over, predicted_because, requires, tunables, scratch, launches, path, registered_at)"
        " VALUES (?, ?, ?, ?, 'host', '', '', '', 0, '', '', '', '[]', '[]', '[]', '', '')",
        {variant.source_hash, variant.id(), variant.family, variant.name});
  }
}

TEST(Migrations, ReaderSeesAnOlderFileAsIfItWereNewAndLeavesItAsItIs) {
  Scratch scratch;
  create_first_version(scratch);
  const std::string before = read_file(scratch.path);
  {
    Journal reader = scratch.open(Access::read_only);
    EXPECT_TRUE(reader.newest_variant("e88_backward/padded_cache"));
    EXPECT_TRUE(reader.replays_of(1).empty());
    EXPECT_NE(user_error([&] { reader.add_variant(a_variant("third")); }), "");
  }
  EXPECT_EQ(read_file(scratch.path), before);
  EXPECT_TRUE(scratch.open().newest_variant("e88_backward/simple"));
  EXPECT_NE(read_file(scratch.path), before);  // brought up to date by a writer
}

TEST(Migrations, OlderFileGainsTheMissingStepsOnce) {
  Scratch scratch;
  scratch.create();
  const auto steps = with_one_more("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;");
  const int now = static_cast<int>(migrations().size());
  {
    Database database(scratch.path, Database::Mode::write);
    EXPECT_EQ(checked_version(database, now + 1), now);
    migrate(database, steps);
    migrate(database, steps);
    EXPECT_EQ(checked_version(database, now + 1), now + 1);
    database.run("INSERT INTO note (text) VALUES ('kept')");
    EXPECT_THROW(database.run("DELETE FROM note"), std::logic_error);
    Statement variants = database.query("SELECT count(*) FROM variant");
    variants.step();
    EXPECT_EQ(variants.integer(), 2);
  }
  EXPECT_TRUE(tells(open_error(scratch.path), "schema version " + std::to_string(now + 1)));
}

TEST(Migrations, AReaderOfAFirstFileSeesWhatItLacksAsEmptyAndAWriterBringsItUpToDate) {
  Scratch scratch;
  {
    Database database(scratch.path, Database::Mode::create);
    migrate(database, migrations().first(1));
    database.run("INSERT INTO machine VALUES (1, 'f', 'cpu-1', 'host', 'm', 2, '', '', '', '', 0, 0, 0, '{}', '')");
    database.run("INSERT INTO configuration VALUES (1, 'f/simple', '{}', 'f/simple')");
    database.run(
        "INSERT INTO campaign VALUES (1, 1, 1, NULL, 'f', 'c', '[]', '', 1, 1, 0, 'cold', 'auto', 'host', '')");
    database.run("INSERT INTO iteration VALUES (1, 1, 1, 1, '')");
    database.run("INSERT INTO profile VALUES (1, 1, NULL, 1, 1, NULL, 'w', 'timers', '', 0, '', 5, 0, '')");
  }
  {
    Journal reader = scratch.open(Access::read_only);
    const auto profiles = reader.profiles_of_iteration(1);
    ASSERT_EQ(profiles.size(), 1u);
    EXPECT_EQ(profiles[0].time_ns, 5);
    EXPECT_TRUE(profiles[0].stalls.empty());
    EXPECT_EQ(profiles[0].conditions, "");
    EXPECT_FALSE(reader.newest_application());
    Statement shares = reader.implementation().database.query("SELECT count(*) FROM application_categories");
    shares.step();
    EXPECT_EQ(shares.integer(), 0);
  }
  Database database(scratch.path, Database::Mode::read);
  const int now = static_cast<int>(migrations().size());
  EXPECT_EQ(checked_version(database, now), 1) << "reading changes nothing";
  scratch.open();
  EXPECT_EQ(checked_version(database, now), now);
}

// A journal as version 9 wrote it, with reasons and predictions in words alone.
void create_version_9(const Scratch& scratch) {
  Database database(scratch.path, Database::Mode::create);
  migrate(database, migrations().first(9));
  database.run("INSERT INTO machine VALUES (1, 'f', 'cpu-1', 'host', 'm', 2, '', '', '', '', 0, 0, 0, '{}', '')");
  database.run("INSERT INTO configuration VALUES (1, 'f/simple', '{}', 'f/simple')");
  database.run("INSERT INTO campaign VALUES (1, 1, 1, NULL, 'f', 'c', '[]', '', 1, 1, 0, 'cold', 'auto', 'host', '')");
  database.run("INSERT INTO iteration VALUES (1, 1, 1, 1, '')");
  const Variant variant = a_variant("simple");
  database.run("INSERT INTO blob (sha256, kind, bytes) VALUES (?, 'source', ?)",
               {variant.source_hash, Value::blob(variant.source)});
  database.run(
      "INSERT INTO variant (source_hash, id, family, name, target, arch, parent, idea, has_prediction, predicted_over,"
      " predicted_because, requires, tunables, scratch, launches, path, registered_at)"
      " VALUES (?, 'f/simple', 'f', 'simple', 'host', '', '', '', 0, '', '', '', '[]', '[]', '[]', '', '')",
      {variant.source_hash});
  int position = 0;
  for (const char* because : {"measured: experiment 1", "apo:predict"}) {
    database.run("INSERT INTO ranking VALUES (1, 0, ?, 1, '[]', 1.1, 1.2, 'incumbent', ?, '', 0, '', 'registered')",
                 {position++, because});
    database.run(
        "INSERT INTO experiment VALUES (?, 1, 1, ?, 'f', 'c', 1, 1, 1, ?, ?, 1.1, 1.2, 'incumbent', ?, 0, 0, '')",
        {position, position, variant.source_hash, variant.source_hash, because});
  }
  position = 0;
  for (const char* why :
       {"unsupported: its target is host", "unsupported: f/b requires N <= 32, which does not hold for N=64",
        "identical to the incumbent: same source, same settings",
        "predicted 1.0x..1.1x (measured: experiment 1), and this machine resolves +2.0 % at best",
        "refuted by experiment 1: 0.97x [0.96, 0.98]", "the moon was full"}) {
    database.run("INSERT INTO ranking VALUES (1, 1, ?, 1, '[]', NULL, NULL, '', '', '', NULL, ?, '')",
                 {position++, why});
  }
}

TEST(Migrations, WordsOfOlderVersionsBecomeSourcesOfPredictionsAndKindsOfReasons) {
  const Scratch scratch;
  create_version_9(scratch);
  for (const Access access : {Access::read_only, Access::read_write, Access::read_only}) {
    Journal journal = scratch.open(access);
    const ResearchBrief brief = journal.brief(1);
    ASSERT_EQ(brief.ranked.size(), 2u);
    EXPECT_EQ(brief.ranked[0].prediction.source, PredictionSource::measurements);
    EXPECT_EQ(brief.ranked[1].prediction.source, PredictionSource::idea);
    EXPECT_EQ(journal.load_experiment(1).prediction.source, PredictionSource::measurements);
    EXPECT_EQ(journal.load_experiment(2).prediction.source, PredictionSource::idea);
    std::vector<LeftOutKind> kinds;
    for (const LeftOut& one : brief.left_out) {
      kinds.push_back(one.kind);
    }
    EXPECT_EQ(kinds,
              (std::vector<LeftOutKind>{LeftOutKind::other_target, LeftOutKind::unsupported, LeftOutKind::incumbent,
                                        LeftOutKind::below_resolution, LeftOutKind::refuted, LeftOutKind::unknown}));
  }
  EXPECT_TRUE(scratch.open().check_integrity().empty());
}

TEST(Migrations, FailedStepChangesNothing) {
  Scratch scratch;
  scratch.open();
  Database database(scratch.path, Database::Mode::write);
  const auto steps = with_one_more("CREATE TABLE note (id INTEGER); SELECT no_such_column FROM note;");
  const int now = static_cast<int>(migrations().size());
  EXPECT_THROW(migrate(database, steps), std::logic_error);
  EXPECT_EQ(checked_version(database, now + 1), now);
  Statement left = database.query("SELECT count(*) FROM sqlite_schema WHERE name = 'note'");
  left.step();
  EXPECT_EQ(left.integer(), 0);
}

}  // namespace
}  // namespace apo
