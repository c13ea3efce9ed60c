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

void add_journals(std::vector<std::filesystem::path>& paths, const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".db") {
      paths.push_back(entry.path());
    }
  }
}

// Those of experiments/, and those that are packed there.
const std::vector<std::filesystem::path>& recorded_journals() {
  static const TemporaryFolder unpacked("apo-recorded");
  static const std::vector<std::filesystem::path> all = [] {
    const std::filesystem::path experiments = std::filesystem::path(APO_SOURCE_FOLDER) / "experiments";
    std::vector<std::filesystem::path> paths;
    add_journals(paths, experiments);
    for (const auto& device : std::filesystem::directory_iterator(experiments)) {
      const std::filesystem::path archive = device.path() / "journals.tar.xz";
      if (std::filesystem::exists(archive)) {
        const std::filesystem::path folder = unpacked.path() / device.path().filename();
        std::filesystem::create_directory(folder);
        EXPECT_EQ(run_process({"tar", "-xJf", archive.string(), "-C", folder.string()}).exit_code, 0);
      }
    }
    add_journals(paths, unpacked.path());
    std::sort(paths.begin(), paths.end());
    return paths;
  }();
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
  for (const std::filesystem::path& path : recorded_journals()) {
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
