// tests/cli/look/recorded_journals_test.cpp - every reading command on every journal that was ever recorded.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/cli/app.h"
#include "harness/core/system/files.h"
#include "journal/query/queries.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

std::vector<std::filesystem::path> recorded_journals() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(APO_SOURCE_FOLDER) / "experiments")) {
    if (entry.path().extension() == ".db") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Answer {
  int exit_code = -1;
  std::string out;
  std::string error;
};

// In this process: a process each would take ten times as long.
Answer answer(std::vector<std::string> words) {
  words.insert(words.begin(), "apo");
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Answer answer;
  answer.exit_code = run_app(static_cast<int>(pointers.size()), pointers.data());
  answer.out = ::testing::internal::GetCapturedStdout();
  answer.error = ::testing::internal::GetCapturedStderr();
  return answer;
}

void expect_no_sql(const std::string& message) {
  for (const char* word : {"SQL", "SELECT", "no such table", "no such column", "internal error"}) {
    EXPECT_EQ(message.find(word), std::string::npos) << message;
  }
}

std::vector<std::string> first_and_last_experiment(const std::filesystem::path& path) {
  std::vector<std::string> ids;
  for (const auto& row : run_sql(path, "SELECT min(id), max(id) FROM experiment HAVING count(*) > 0").rows) {
    ids = {std::to_string(std::get<std::int64_t>(row[0])), std::to_string(std::get<std::int64_t>(row[1]))};
  }
  return ids;
}

bool has_campaign(const std::filesystem::path& path) {
  return !run_sql(path, "SELECT 1 FROM campaign").rows.empty();
}

TEST(RecordedJournals, EveryReadingCommandWorks) {
  const TemporaryFolder folder("apo-test");
  for (const std::filesystem::path& path : recorded_journals()) {
    SCOPED_TRACE(path);
    std::vector<std::vector<std::string>> commands = {
        {"list"}, {"lessons"}, {"query"}, {"query", "--profiles"}, {"query", "--commands"}, {"list", "--workers"}};
    for (const std::string& id : first_and_last_experiment(path)) {
      commands.push_back({"show", id});
    }
    for (const char* format : {"markdown", "html", "json", "csv"}) {
      if (has_campaign(path)) {
        commands.push_back({"report", "--output", "-", "--format", format});
      }
    }
    commands.push_back({"report", "--commands", "--output", folder.path().string()});
    for (std::vector<std::string>& words : commands) {
      words.insert(words.end(), {"--journal", path.string()});
      const Answer given = answer(words);
      EXPECT_EQ(given.exit_code, kDone) << words[0] << "\n" << given.error;
      expect_no_sql(given.error);
    }
  }
}

TEST(RecordedJournals, AnIndexLinksTheReportOfEveryCampaign) {
  const TemporaryFolder folder("apo-test");
  std::vector<std::string> words = {"report", "--all", "--format", "html", "--output", folder.path().string()};
  for (const std::filesystem::path& path : recorded_journals()) {
    words.push_back(path.string());
  }
  const Answer given = answer(words);
  ASSERT_EQ(given.exit_code, kDone) << given.error;
  const std::string index = read_file(folder.path() / "index.html");
  std::size_t links = 0;
  for (std::size_t at = index.find("<td><a href=\""); at != std::string::npos;
       at = index.find("<td><a href=\"", at + 1)) {
    const std::size_t start = at + 13;
    EXPECT_TRUE(std::filesystem::exists(folder.path() / index.substr(start, index.find('"', start) - start)));
    ++links;
  }
  EXPECT_GT(links, 15U);
  EXPECT_EQ(answer({"report", "--all", "--format", "csv", words.back()}).exit_code, kUserMistake);
}

TEST(RecordedJournals, ACommandThatFindsNothingSaysSoWithoutSql) {
  const TemporaryFolder folder("apo-test");
  for (const std::filesystem::path& path : recorded_journals()) {
    SCOPED_TRACE(path);
    const std::string output = (folder.path() / path.parent_path().filename() / path.stem()).string();
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", "--campaign", "987654"}, {"show", "987654"}, {"export", "--dispatch", "--output", output}}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--journal", path.string()});
      expect_no_sql(answer(all).error);
    }
  }
}

TEST(RecordedJournals, EachIsWholeAndReadableAsARecord) {
  for (const std::filesystem::path& path : recorded_journals()) {
    SCOPED_TRACE(path);
    Journal journal = Journal::open(path, Access::read_only);
    EXPECT_EQ(journal.check_integrity(), std::vector<std::string>{});
    EXPECT_EQ(journal.check_invariants(), std::vector<std::string>{});
    for (const std::int64_t id : journal.judged_originals()) {
      EXPECT_EQ(journal.load_experiment(id).id, id);
      journal.replays_of(id);
    }
    journal.incumbents();
    journal.unfinished();
  }
}

// A missing table can't come back: an older file shows all that the newest schema has.
TEST(RecordedJournals, EveryTableAndViewOfTheNewestSchemaCanBeRead) {
  const TemporaryFolder folder("apo-test");
  const std::filesystem::path newest = folder.path() / "newest.db";
  Journal::open(newest, Access::read_write);
  std::string all = "SELECT 1";
  for (const auto& row :
       run_sql(newest,
               "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
               " AND name NOT LIKE 'sentence_index_%'")
           .rows) {
    all += " UNION ALL SELECT count(*) FROM " + std::get<std::string>(row[0]);
  }
  for (const std::filesystem::path& path : recorded_journals()) {
    SCOPED_TRACE(path);
    EXPECT_GT(run_sql(path, all).rows.size(), 40U);
  }
}

// The program itself: doctor starts it again as a worker.
TEST(RecordedJournals, DoctorFindsAJournalOfTheFirstSchemaWhole) {
  const Workplace place;
  std::filesystem::copy_file(
      std::filesystem::path(APO_SOURCE_FOLDER) / "experiments/nvidia-h200/b16_t512_h83_n32/backward.db",
      place.path("first.db"));
  const Ran ran = place.apo({"doctor", "--journal", place.path("first.db").string()}, 100);
  EXPECT_EQ(ran.exit_code, kDone) << ran.out;
  EXPECT_NE(ran.out.find("is whole, schema version 1"), std::string::npos) << ran.out;
  expect_no_sql(ran.err);
}

}  // namespace
}  // namespace apo
