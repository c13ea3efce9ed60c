// tests/journal/crash_test.cpp - a kill at any instant loses at most the experiment under way.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

// Writes experiments until it is killed; acknowledges each one that is finished.
[[noreturn]] void write_until_killed(const std::filesystem::path& path, int acknowledge) {
  Journal journal = Journal::open(path, Access::read_write);
  prepare(journal);
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  for (int index = 1;; ++index) {
    const std::int64_t iteration = journal.begin_iteration({.campaign = campaign, .index = index});
    Experiment experiment = an_experiment(campaign, iteration);
    experiment.id = journal.begin_experiment(experiment);
    for (const Round& round : experiment.rounds) {
      journal.add_round(experiment.id, round);
    }
    journal.finish_experiment(experiment, a_lesson(experiment));
    journal.finish_iteration(iteration);
    if (write(acknowledge, &experiment.id, sizeof experiment.id) != sizeof experiment.id) {
      _exit(1);
    }
  }
}

std::int64_t last_acknowledged(int pipe_end) {
  std::int64_t id = 0;
  std::int64_t last = 0;
  while (read(pipe_end, &id, sizeof id) == sizeof id) {
    last = id;
  }
  return last;
}

void check_after_kill(const std::filesystem::path& path, std::int64_t acknowledged) {
  Journal journal = Journal::open(path, Access::read_write);  // the dead writer's lock is free
  EXPECT_TRUE(journal.check_integrity().empty());
  for (std::int64_t id = 1; id <= acknowledged; ++id) {
    const Experiment experiment = journal.load_experiment(id);
    EXPECT_TRUE(experiment.judgement) << id;
    EXPECT_EQ(experiment.rounds.size(), 3u);
    EXPECT_EQ(journal.lessons({.experiment = id}).size(), 1u);
  }
  int experiments = 0;
  for (const Unfinished& open : journal.unfinished()) {
    if (open.kind == Unfinished::Kind::experiment) {
      ++experiments;
      EXPECT_GT(open.id, acknowledged);
      EXPECT_LE(open.rounds, 3);
    }
    journal.mark_abandoned(open, "killed");
  }
  EXPECT_LE(experiments, 1);
  EXPECT_TRUE(journal.unfinished().empty());
}

TEST(Crash, KilledWriterKeepsEveryFinishedRow) {
  std::mt19937 random(20260203);
  std::uniform_int_distribution<useconds_t> delay_us(0, 60'000);
  std::int64_t total = 0;
  for (int trial = 0; trial < 20; ++trial) {
    Scratch scratch;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      write_until_killed(scratch.path, ends[1]);
    }
    close(ends[1]);
    std::int64_t acknowledged = 0;
    if (trial % 3 != 0) {  // else while it still creates the file
      ASSERT_EQ(read(ends[0], &acknowledged, sizeof acknowledged), static_cast<ssize_t>(sizeof acknowledged));
    }
    usleep(delay_us(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    acknowledged = std::max(acknowledged, last_acknowledged(ends[0]));
    close(ends[0]);
    total += acknowledged;
    check_after_kill(scratch.path, acknowledged);
  }
  EXPECT_GE(total, 13);
}

TEST(Crash, ReaderOfAKilledWritersJournalSeesTheFinishedRows) {
  Scratch scratch;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    write_until_killed(scratch.path, ends[1]);
  }
  close(ends[1]);
  std::int64_t id = 0;
  while (id < 3 && read(ends[0], &id, sizeof id) == sizeof id) {
  }
  {
    Journal concurrent = scratch.open(Access::read_only);  // while the other process writes
    EXPECT_TRUE(concurrent.load_experiment(3).judgement);
    const Campaign campaign = concurrent.campaigns().at(0);
    Journal writer = scratch.open();
    EXPECT_NE(user_error([&] { writer.take_campaign(campaign); }).find("process " + std::to_string(child)),
              std::string::npos);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  EXPECT_TRUE(scratch.open(Access::read_only).load_experiment(3).judgement);
}

}  // namespace
}  // namespace apo
