// tests/journal/fault_test.cpp - a full disk, a stepped clock, damaged pages and a cut log: nothing finished is lost in
// silence, and nothing crashes.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>

#include "harness/core/system/process.h"
#include "journal/database.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/unfinished.h"
#include "journal/journal.h"
#include "journal/query/queries.h"
#include "tests/journal/fire.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

constexpr int kNoMount = 77;

// 0: writing failed for lack of room, and everything finished before is there.
int write_until_full(const std::filesystem::path& path) {
  std::int64_t finished = 0;
  {
    Journal journal = Journal::open(path, Access::read_write);
    prepare(journal);
    std::string error;
    for (int count = 0; count < 5000 && error.empty(); ++count) {
      error = error_of<EnvironmentError>([&] { finished = add_quick(journal, {.setting = count}); });
    }
    if (!contains(error, "no room left") || !contains(error, path.string()) || finished == 0) {
      std::fprintf(stderr, "%d experiments, then '%s'\n", static_cast<int>(finished), error.c_str());
      return 1;
    }
  }
  Journal reader = Journal::open(path, Access::read_only);  // the disk is still full
  return load_experiment(reader, finished).judgement && reader.check_integrity().empty() ? 0 : 2;
}

// In a mount namespace of its own: a file system of two megabytes.
int fill_a_small_disk(const std::filesystem::path& folder) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=2m") != 0) {
    return kNoMount;
  }
  return write_until_full(folder / "journal.db");
}

// The kernel refuses what grows a file past the limit, as a full disk does.
int fill_up_to_a_limit(const std::filesystem::path& folder) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{2 << 20, 2 << 20};
  return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? write_until_full(folder / "journal.db") : kNoMount;
}

int exit_code_of(int (*action)(const std::filesystem::path&), const std::filesystem::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(action(folder));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fault, ALimitOfTheFilesSizeIsTheEnvironmentsAndKeepsEveryFinishedRow) {
  const Scratch scratch;
  EXPECT_EQ(exit_code_of(fill_up_to_a_limit, scratch.folder.path()), 0);
  Journal journal = scratch.open();
  EXPECT_TRUE(journal.check_integrity().empty());
  EXPECT_LE(all_unfinished(journal).size(), 1u);
  EXPECT_GT(add_quick(journal, {}), 1);
}

TEST(Fault, ADiskThatFillsUpIsTheEnvironmentsAndKeepsEveryFinishedRow) {
  const Scratch scratch;
  const int code = exit_code_of(fill_a_small_disk, scratch.folder.path());
  if (code == kNoMount) {
    GTEST_SKIP() << "may not mount a small file system here; Fault.ALimit... fills one by a limit";
  }
  EXPECT_EQ(code, 0);
}

// The ids say what came first; the times are what the clock said.
TEST(Fault, AClockThatStepsBackChangesNoOrder) {
  const Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  std::int64_t campaign = 0;
  std::int64_t last = 0;
  for (const char* at : {"2026-05-01T00:00:00Z", "2024-01-01T00:00:00Z"}) {
    Campaign begun = a_campaign();
    begun.started_at = at;
    campaign = begin_campaign(journal, begun);
    for (int setting = 1; setting <= 2; ++setting) {
      last = add_quick(journal, {.campaign = campaign,
                                 .verdict = Verdict::accepted,
                                 .effect = 0.1,
                                 .setting = 10 * campaign + setting,
                                 .started_at = at});
    }
  }
  const auto incumbent = find_incumbent(journal, "e88_backward", "n32", "cpu-1");
  ASSERT_TRUE(incumbent);
  EXPECT_EQ(incumbent->experiment, last);
  EXPECT_EQ(incumbent->campaign, campaign);
  ASSERT_EQ(all_incumbents(journal).size(), 1u);
  EXPECT_EQ(all_incumbents(journal).front().experiment, last);
  EXPECT_EQ(find_open_campaign(journal, "e88_backward", "n32", "cpu-1")->id, campaign);
  EXPECT_EQ(std::get<std::int64_t>(run_query(journal, parse_query({})).rows.front().front()), last);
}

// Damage is the environment's trouble; without its first page the file is no journal at all, which is the user's
// mistake.
template <class Action>
std::string error_of_either_kind(Action action) {
  std::string damage;
  const std::string mistake = error_of([&] { damage = error_of<EnvironmentError>(action); });
  return damage.empty() ? mistake : damage;
}

// Whatever page is damaged: every step ends, with a result or with a message that names the file and the way out.
TEST(Fault, AnyDamagedPageIsAMessageThatNamesTheFileAndTheWayOut) {
  const Scratch whole;
  write_campaign(whole.path);
  const std::string bytes = read_file(whole.path);
  constexpr std::size_t kPage = 4096;
  std::mt19937 random(7);
  int noticed = 0;
  int pages = 0;
  for (std::size_t page = 0; page < bytes.size() / kPage; page += 5, ++pages) {
    const Scratch scratch;
    std::string damaged = bytes;
    for (std::size_t i = 0; i < 512; ++i) {
      damaged[page * kPage + (page == 0 ? 100 : 0) + i] = static_cast<char>(random());
    }
    std::ofstream(scratch.path, std::ios::binary) << damaged;
    std::vector<std::string> findings;
    const std::string error = error_of_either_kind([&] {
      Journal journal = scratch.open(Access::read_only);
      findings = journal.check_integrity();
      for (int id = 1; id <= 6; ++id) {
        load_experiment(journal, id);
      }
      run_query(journal, parse_query({"verdict=reverted"}));
      lessons_of(journal);
    });
    noticed += !findings.empty() || !error.empty() ? 1 : 0;
    if (!error.empty()) {
      EXPECT_TRUE(contains(error, "damaged") || contains(error, "not a journal") ||
                  contains(error, "there is no experiment") || contains(error, "of another program"))
          << page << ": " << error;
      EXPECT_FALSE(error.ends_with(" | ")) << page << " has no way out: " << error;
    }
  }
  EXPECT_EQ(noticed, pages) << "a damaged page passed for a whole one";
  const Scratch cut;
  std::ofstream(cut.path, std::ios::binary) << bytes.substr(0, 5000);  // the header's page and a bit
  bool found = false;
  const std::string error = error_of_either_kind([&] { found = !cut.open().check_integrity().empty(); });
  EXPECT_TRUE(found || contains(error, "damaged") || contains(error, "not an SQLite")) << error;
}

TEST(Fault, WhatCanBeReadOfADamagedJournalIsRecoveredAsTheMessageSays) {
  if (run_process({"sqlite3", "--version"}, {.timeout_s = 1000}).exit_code != 0) {
    GTEST_SKIP() << "the program sqlite3 is not installed";
  }
  const Scratch scratch;
  write_campaign(scratch.path);
  std::string bytes = read_file(scratch.path);
  std::fill(bytes.end() - 4096, bytes.end() - 2048, '\xee');
  std::ofstream(scratch.path, std::ios::binary) << bytes;
  std::vector<std::string> findings;
  const std::string error = error_of_either_kind([&] { findings = scratch.open(Access::read_only).check_integrity(); });
  EXPECT_TRUE(!findings.empty() || contains(error, "sqlite3 recovered.db")) << error;
  const std::filesystem::path recovered = scratch.folder.path() / "recovered.db";
  const ProcessOptions there{.timeout_s = 1000, .working_folder = scratch.folder.path()};
  ASSERT_EQ(run_process({"sh", "-c", recovery_command(scratch.path)}, there).exit_code, 0);
  Journal journal = Journal::open(recovered, Access::read_write);
  EXPECT_GE(experiments_of(journal, 1, Detail::summary).size(), 5u);
}

// A kill of the whole machine can cut the log anywhere; what was checkpointed or stands before the cut is there.
TEST(Fault, ACutLogLosesWhatFollowsTheCutAndNothingElse) {
  const Scratch scratch;
  std::string database;
  std::string log;
  {
    Journal journal = scratch.open();
    prepare(journal);
    for (int count = 0; count < 20; ++count) {
      add_quick(journal, {.setting = count});
    }
    database = read_file(scratch.path);
    log = read_file(scratch.path.string() + "-wal");
  }
  ASSERT_GT(log.size(), 10'000u);
  std::size_t before = 0;
  for (std::size_t eighth = 0; eighth <= 8; ++eighth) {
    const Scratch cut;
    std::ofstream(cut.path, std::ios::binary) << database;
    std::ofstream(cut.path.string() + "-wal", std::ios::binary) << log.substr(0, log.size() * eighth / 8);
    Journal journal = cut.open();
    EXPECT_TRUE(journal.check_integrity().empty());
    const std::size_t now = run_query(journal, parse_query({"limit=0"})).rows.size();
    EXPECT_GE(now, before);
    before = now;
    prepare(journal);
    EXPECT_GT(add_quick(journal, {}), 0);
  }
  EXPECT_EQ(before, 20u);
}

}  // namespace
}  // namespace apo
