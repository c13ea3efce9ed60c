// tests/evaluate/next_worker_test.cpp - workers that start ahead, are shared, and end later, with real processes.
#include "harness/evaluate/next_worker.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cerrno>

#include "harness/evaluate/check_workers.h"
#include "harness/evaluate/lab.h"
#include "tests/evaluate/lab_fixture.h"

namespace apo {
namespace {

bool runs(int pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

struct NextWorkerTest : ::testing::Test {
  testing::CopyLab copy;
  NextWorker next;

  WorkerOptions options(std::uint64_t seed) const {
    WorkerOptions options = copy.lab().worker;
    options.layout_seed = seed;
    return options;
  }
};

TEST_F(NextWorkerTest, TheOneThatStartedAheadIsTakenAndAnswers) {
  next.start(options(5));
  auto worker = next.take(options(5));
  worker->await_start();
  EXPECT_TRUE(worker->alive());
  auto other = next.take(options(5));
  other->await_start();
  EXPECT_NE(worker->pid(), other->pid());
}

TEST_F(NextWorkerTest, AnotherSeedGetsAWorkerOfItsOwnAndTheOneAheadEnds) {
  next.start(options(5));
  auto worker = next.take(options(6));
  worker->await_start();
  EXPECT_TRUE(worker->alive());
  next.end(std::move(worker));
}

TEST_F(NextWorkerTest, ThoseThatStartedAheadAreTakenInTheirOrder) {
  for (const std::uint64_t seed : {5U, 6U, 6U, 7U}) {
    next.start(options(seed));
  }
  auto first = next.take(options(5));
  auto third = next.take(options(7));
  first->await_start();
  third->await_start();
  EXPECT_TRUE(first->alive());
  EXPECT_NE(first->pid(), third->pid());
  auto again = next.take(options(6));
  again->await_start();
  EXPECT_TRUE(again->alive()) << "the one that was begun for it had to end when a later one was taken";
}

TEST_F(NextWorkerTest, NoProcessIsLeftBehind) {
  int ended = 0;
  {
    NextWorker gone;
    auto worker = gone.take(options(1));
    worker->await_start();
    ended = worker->pid();
    gone.start(options(2));
    gone.end(std::move(worker));
  }
  EXPECT_FALSE(runs(ended));
}

struct CheckWorkersTest : NextWorkerTest {
  WorkerYard yard;

  // Of the worker that is taken, after it has answered; `keep` gives it to the next one.
  static int pid_of(CheckWorkers& workers, bool keep) {
    CheckWorkers::Lease lease = workers.take(true);
    if (!lease) {
      return 0;
    }
    (*lease).await_start();
    if (keep) {
      lease.keep();
    }
    return (*lease).pid();
  }
};

TEST_F(CheckWorkersTest, TheOneThatWasKeptServesTheNextCase) {
  CheckWorkers workers(options(1), 2, 1, yard);
  const int first = pid_of(workers, true);
  EXPECT_EQ(pid_of(workers, true), first);
  EXPECT_EQ(pid_of(workers, true), first);
}

TEST_F(CheckWorkersTest, OneThatFailedServesNobodyAndAnotherTakesItsPlace) {
  CheckWorkers workers(options(1), 2, 1, yard);
  const int first = pid_of(workers, false);
  const int second = pid_of(workers, true);
  EXPECT_NE(first, second);
  yard.clear();
  EXPECT_FALSE(runs(first));
  {
    CheckWorkers::Lease dead = workers.take(true);
    (*dead).stop();
    dead.keep();
  }
  EXPECT_EQ(pid_of(workers, true), 0) << "none is left, and nobody waits for ever";
}

TEST_F(CheckWorkersTest, WhoDoesNotWaitGetsNoneWhileAllAreBusy) {
  CheckWorkers workers(options(1), 1, 1, yard);
  CheckWorkers::Lease busy = workers.take(false);
  EXPECT_TRUE(busy);
  EXPECT_FALSE(workers.take(false));
}

TEST_F(CheckWorkersTest, TheFreshOneOfTheYardServesFirst) {
  auto fresh = std::make_unique<Worker>(options(3));
  const int pid = fresh->pid();
  yard.keep(std::move(fresh));
  CheckWorkers workers(options(1), 1, 1, yard);
  EXPECT_EQ(pid_of(workers, true), pid);
}

TEST_F(CheckWorkersTest, NothingIsLeftOfAYardThatWasCleared) {
  auto kept = std::make_unique<Worker>(options(3));
  auto ending = std::make_unique<Worker>(options(4));
  const std::array<int, 2> pids = {kept->pid(), ending->pid()};
  yard.keep(std::move(kept));
  yard.end(std::move(ending));
  yard.clear();
  EXPECT_FALSE(runs(pids[0]));
  EXPECT_FALSE(runs(pids[1]));
}

TEST(CheckScratch, BeyondAllMemoryIsTheCandidatesOutOfMemory) {
  const auto failure = check_scratch({std::int64_t{1} << 50, 1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::out_of_memory);
  EXPECT_NE(failure->evidence.find("cannot allocate 1024.00 TiB"), std::string::npos) << failure->evidence;
  EXPECT_FALSE(check_scratch({4096}));
}

}  // namespace
}  // namespace apo
