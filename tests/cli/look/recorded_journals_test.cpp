// tests/cli/look/recorded_journals_test.cpp - every reading command on every journal that was ever recorded.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/replays.h"
#include "journal/facts/unfinished.h"
#include "journal/query/queries.h"

namespace apo {
namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder, const char* ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().native().ends_with(ending)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Those of experiments/, and those of its archives whose names end like that.
std::vector<std::filesystem::path> recorded_journals(const TemporaryFolder& unpacked, const char* archives) {
  const std::filesystem::path experiments = std::filesystem::path(APO_SOURCE_FOLDER) / "experiments";
  for (const std::filesystem::path& archive : files_of(experiments, archives)) {
    const std::filesystem::path folder = unpacked.path() / archive.lexically_relative(experiments);
    std::filesystem::create_directories(folder);
    EXPECT_EQ(run_process({"tar", "-xJf", archive.string(), "-C", folder.string()}).exit_code, 0);
  }
  std::vector<std::filesystem::path> all = files_of(experiments, ".db");
  const std::vector<std::filesystem::path> packed = files_of(unpacked.path(), ".db");
  all.insert(all.end(), packed.begin(), packed.end());
  return all;
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
  const TemporaryFolder unpacked("apo-recorded");
  for (const std::filesystem::path& path : recorded_journals(unpacked, "journals.tar.xz")) {
    SCOPED_TRACE(path);
    std::vector<std::vector<std::string>> commands = {{"list"},
                                                      {"query", "--lessons"},
                                                      {"query"},
                                                      {"query", "--sql", "SELECT * FROM profiles"},
                                                      {"query", "--sql", "SELECT * FROM command_comparisons"},
                                                      {"list", "--workers"}};
    for (const std::string& id : first_and_last_experiment(path)) {
      commands.push_back({"show", id});
    }
    for (const char* format : {"markdown", "html", "json"}) {
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

TEST(RecordedJournals, ACommandThatFindsNothingSaysSoWithoutSql) {
  const TemporaryFolder folder("apo-test");
  const TemporaryFolder unpacked("apo-recorded");
  for (const std::filesystem::path& path : recorded_journals(unpacked, "journals.tar.xz")) {
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
  const TemporaryFolder unpacked("apo-recorded");
  for (const std::filesystem::path& path : recorded_journals(unpacked, ".tar.xz")) {
    SCOPED_TRACE(path);
    Journal journal = Journal::open(path, Access::read_only);
    EXPECT_EQ(journal.check_integrity(), std::vector<std::string>{});
    EXPECT_EQ(journal.check_invariants(), std::vector<std::string>{});
    for (const std::int64_t id : judged_originals(journal)) {
      EXPECT_EQ(load_experiment(journal, id).id, id);
      replays_of(journal, id);
    }
    all_incumbents(journal);
    all_unfinished(journal);
  }
}

}  // namespace
}  // namespace apo
