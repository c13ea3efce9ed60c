// tests/cli/look/journal_file_test.cpp - journals that cannot be used: a message that names the fix, and nothing is
// harmed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "journal/database.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

const Words kReaders[] = {{"query"}, {"show", "1"}, {"report"}, {"lessons"}};
const Words kWriters[] = {{"run", "copy"}, {"compare", "copy/simple", "copy/memcpy", "--judge", "standard"}};

void expect_refused(const Workplace& place, Words words, const std::string& journal, const std::string& said) {
  words.insert(words.end(), {"--journal", journal});
  const Ran ran = place.apo(words);
  EXPECT_EQ(ran.exit_code, 1) << words.front();
  EXPECT_EQ(ran.out, "") << words.front();
  EXPECT_NE(ran.err.find(said), std::string::npos) << words.front() << ": " << ran.err;
}

void expect_all_refused(const Workplace& place, const std::string& journal, const std::string& said) {
  for (const Words& words : kReaders) {
    expect_refused(place, words, journal, said);
  }
  for (const Words& words : kWriters) {
    expect_refused(place, words, journal, said);
  }
}

TEST(JournalFile, TextIsNotAJournalAndStaysAsItIs) {
  const Workplace place;
  place.write("notes.txt", "remember the milk\n");
  expect_all_refused(place, "notes.txt", "is not an SQLite file");
  EXPECT_EQ(read_file(place.path("notes.txt")), "remember the milk\n");
}

TEST(JournalFile, FolderIsToldToNameAFile) {
  const Workplace place;
  std::filesystem::create_directory(place.path("somewhere"));
  expect_all_refused(place, "somewhere", "is a folder");
}

TEST(JournalFile, NewerSchemaAsksForANewerProgram) {
  const Workplace place;
  { const Journal journal = Journal::open(place.path("journal.db"), Access::read_write); }
  {
    Database database(place.path("journal.db"), Database::Mode::write);
    database.execute("PRAGMA user_version = 9999");
  }
  expect_all_refused(place, "journal.db", "update apo");
}

TEST(JournalFile, OtherProgramsDatabaseIsRefused) {
  const Workplace place;
  {
    Database database(place.path("bookmarks.db"), Database::Mode::create);
    database.execute("CREATE TABLE bookmark (url TEXT)");
  }
  expect_refused(place, {"query"}, "bookmarks.db", "bookmarks.db");
  expect_refused(place, {"run", "copy"}, "bookmarks.db", "of another program");
}

TEST(JournalFile, ReadOnlyOneCanBeReadButNotWritten) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may write everything";
  }
  const Workplace place;
  { const Journal journal = Journal::open(place.path("journal.db"), Access::read_write); }
  std::filesystem::permissions(place.path("journal.db"), std::filesystem::perms::owner_read);
  expect_refused(place, {"run", "copy"}, "journal.db", "read-only");
  EXPECT_EQ(place.apo({"query", "--journal", "journal.db"}).exit_code, 0);
}

// Programs of before journals could be shared lock the whole file.
TEST(JournalFile, LockedByAnOlderProgramNamesTheProcessAndStaysReadable) {
  const Workplace place;
  { const Journal journal = Journal::open(place.path("journal.db"), Access::read_write); }
  const FileDescriptor lock(open(place.path("journal.db.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  for (const Words& words : kWriters) {
    expect_refused(place, words, "journal.db", "process " + std::to_string(getpid()));
  }
  EXPECT_EQ(place.apo({"query", "--journal", "journal.db"}).exit_code, 0);
  EXPECT_EQ(place.apo({"lessons", "--journal", "journal.db"}).exit_code, 0);
  EXPECT_EQ(place.apo({"list", "--journal", "journal.db"}).exit_code, 0);
}

TEST(JournalFile, EmptyJournalHasNoCampaignAndNoRows) {
  const Workplace place;
  { const Journal journal = Journal::open(place.path("journal.db"), Access::read_write); }
  expect_refused(place, {"report"}, "journal.db", "no campaign");
  expect_refused(place, {"show", "1"}, "journal.db", "there is no experiment 1");
  EXPECT_TRUE(only_document(place.apo({"query", "--json", "--journal", "journal.db"}))["rows"].empty());
  EXPECT_TRUE(only_document(place.apo({"lessons", "--json", "--journal", "journal.db"}))["lessons"].empty());
}

TEST(JournalFile, ListWorksWithoutAUsableJournalAndSaysSo) {
  const Workplace place;
  place.write("notes.txt", "no journal");
  const Ran ran = place.apo({"list", "copy", "--journal", "notes.txt"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("copy/simple"), std::string::npos);
  EXPECT_NE(ran.err.find("incumbents are not shown"), std::string::npos) << ran.err;
}

TEST(JournalFile, ADamagedOneIsTheEnvironmentsTroubleAndTheMessageSavesWhatCanBeRead) {
  const Workplace place;
  std::string bytes = read_file(APO_SOURCE_FOLDER "/experiments/nvidia-h200/b8_t128_h83_n32/journal.db");
  std::fill(bytes.begin() + 4096, bytes.end(), '\xee');  // all but the first page, which has the schema
  place.write("journal.db", bytes);
  for (const Words& words : {Words{"query"}, Words{"report"}, Words{"run", "copy"}}) {
    Words all = words;
    all.insert(all.end(), {"--journal", "journal.db"});
    const Ran ran = place.apo(all);
    EXPECT_EQ(ran.exit_code, 2) << words.front() << ran.err;
    EXPECT_NE(ran.err.find("/journal.db' is damaged"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("sqlite3 recovered.db"), std::string::npos) << ran.err;
  }
}

TEST(JournalFile, DoctorCallsADamagedJournalBroken) {
  const Workplace place;
  place.write("notes.txt", "no journal");
  const Ran ran = place.apo({"doctor", "--json", "--journal", "notes.txt"});
  EXPECT_EQ(ran.exit_code, 2);
  const auto document = only_document(ran);
  EXPECT_FALSE(document["host_works"]);
  for (const auto& check : document["checks"]) {
    if (check["name"] == "journal") {
      EXPECT_EQ(check["state"], "broken");
      EXPECT_NE(check["fix"], "");
    }
  }
}

TEST(JournalFile, SqlCannotChangeIt) {
  const Workplace place;
  { const Journal journal = Journal::open(place.path("journal.db"), Access::read_write); }
  for (const char* sql : {"DELETE FROM experiment", "DROP TABLE experiment", "ATTACH 'x.db' AS x", "SELECT 1; SELECT 2",
                          "PRAGMA user_version = 3", "nonsense", ""}) {
    EXPECT_EQ(place.apo({"query", "--journal", "journal.db", "--sql", sql}).exit_code, 1) << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(place.path("x.db")));
}

TEST(JournalFile, ALessonUnderAnotherIncumbentIsNoLongerKnownToHold) {
  const Workplace place;
  std::filesystem::copy_file(APO_SOURCE_FOLDER "/experiments/host-epyc/research/e88_backward.db",
                             place.path("recorded.db"));
  const Words words = {"lessons", "--verdict", "inconclusive", "--journal", "recorded.db"};
  const Ran ran = place.apo(words);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("open   combined: SEQUENCES_PER_THREAD=2 in place of 1"), std::string::npos) << ran.out;
  const std::string now = "e88_backward/combined[LANES=0,ROWS=2,SEQUENCES_PER_THREAD=1] is the incumbent now";
  EXPECT_NE(ran.out.find("no longer known to hold: " + now), std::string::npos) << ran.out;
  Words json = words;
  json.emplace_back("--json");
  EXPECT_EQ(only_document(place.apo(json))["lessons"][0]["expired"], now);
  const Ran gains = place.apo({"lessons", "--verdict", "accepted", "--journal", "recorded.db"});
  EXPECT_EQ(gains.out.find("is the incumbent now"), std::string::npos)
      << "a gain over what was left behind is one still";
}

TEST(JournalFile, ListShowsTheIncumbentOfEachWorkloadWhereTheyDiffer) {
  const Workplace place;
  std::filesystem::copy_file(APO_SOURCE_FOLDER "/experiments/nvidia-h200/agent/campaigns.db",
                             place.path("recorded.db"));
  const Ran list = place.apo({"list", "e88_backward", "--journal", "recorded.db"});
  EXPECT_NE(list.out.find("* incumbent of b16_t512_h83_n32 on NVIDIA H200 (cuda) as e88_backward/cuda_best"),
            std::string::npos)
      << list.out;
  const Ran lessons = place.apo({"lessons", "--family", "e88_backward", "--journal", "recorded.db"});
  EXPECT_EQ(lessons.exit_code, 0) << lessons.err;
  EXPECT_EQ(lessons.out.find("is the incumbent now"), std::string::npos) << lessons.out;
}

TEST(JournalFile, ListShowsTheIncumbentsOfEveryDeviceInIt) {
  const Workplace place;
  std::filesystem::copy_file(APO_SOURCE_FOLDER "/experiments/nvidia-h200/b8_t128_h83_n32/journal.db",
                             place.path("recorded.db"));
  const Ran ran = place.apo({"list", "e88_forward", "--journal", "recorded.db"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("* incumbent of class n32 on NVIDIA H200 (cuda) as e88_forward/cuda_lane_tiling[WARPS=2]"),
            std::string::npos)
      << ran.out;
}

}  // namespace
}  // namespace apo
