// tests/evaluate/next_worker_test.cpp - a worker that starts ahead, with real processes.
#include "harness/evaluate/next_worker.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

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

TEST(CheckScratch, BeyondAllMemoryIsTheCandidatesOutOfMemory) {
  const auto failure = check_scratch({std::int64_t{1} << 50, 1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::out_of_memory);
  EXPECT_NE(failure->evidence.find("cannot allocate 1024.00 TiB"), std::string::npos) << failure->evidence;
  EXPECT_FALSE(check_scratch({4096}));
}

}  // namespace
}  // namespace apo
