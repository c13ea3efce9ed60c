// tests/runtime/runtime_test.cpp - workers that start ahead, loaded code against what was built, and inputs drawn
// together.
#include "harness/runtime/runtime.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"
#include "harness/runtime/worker_pool.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

bool runs(int pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

struct WorkerPoolTest : ::testing::Test {
  testing::CopyRuntime copy;
  WorkerPool worker_pool;

  WorkerOptions options(std::uint64_t seed) const {
    WorkerOptions options = copy.runtime().worker;
    options.layout_seed = seed;
    return options;
  }
};

TEST_F(WorkerPoolTest, TheOneThatStartedAheadIsTakenAndAnswers) {
  worker_pool.start(options(5));
  auto worker = worker_pool.take(options(5));
  worker->await_start();
  EXPECT_TRUE(worker->alive());
  auto other = worker_pool.take(options(5));
  other->await_start();
  EXPECT_NE(worker->pid(), other->pid());
}

TEST_F(WorkerPoolTest, AnotherSeedGetsAWorkerOfItsOwnAndTheOneAheadEnds) {
  worker_pool.start(options(5));
  auto worker = worker_pool.take(options(6));
  worker->await_start();
  EXPECT_TRUE(worker->alive());
  worker_pool.end(std::move(worker));
}

TEST_F(WorkerPoolTest, ThoseThatStartedAheadAreTakenInTheirOrder) {
  for (const std::uint64_t seed : {5U, 6U, 6U, 7U}) {
    worker_pool.start(options(seed));
  }
  auto first = worker_pool.take(options(5));
  auto third = worker_pool.take(options(7));
  first->await_start();
  third->await_start();
  EXPECT_TRUE(first->alive());
  EXPECT_NE(first->pid(), third->pid());
  auto again = worker_pool.take(options(6));
  again->await_start();
  EXPECT_TRUE(again->alive()) << "the one that was begun for it had to end when a later one was taken";
}

TEST_F(WorkerPoolTest, TheFreshOneServesOnce) {
  auto fresh = std::make_unique<Worker>(options(3));
  const int pid = fresh->pid();
  worker_pool.keep(std::move(fresh));
  const auto taken = worker_pool.take_kept();
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->pid(), pid);
  EXPECT_EQ(worker_pool.take_kept(), nullptr);
}

TEST_F(WorkerPoolTest, OneThatDiesAtItsStartIsTheTakersToHear) {
  WorkerOptions broken = options(8);
  broken.program = "/bin/false";
  const auto use = [&] {  // it may be dead before it can be asked anything
    worker_pool.start(broken);
    worker_pool.await_starts();
    worker_pool.take(broken)->await_start();
  };
  EXPECT_THROW(use(), EnvironmentError);
}

TEST_F(WorkerPoolTest, WhoWaitsForTheEndsLeavesThoseThatStartAlone) {
  auto ended = std::make_unique<Worker>(options(1));
  const int pid = ended->pid();
  worker_pool.start(options(2));
  worker_pool.end(std::move(ended));
  worker_pool.await_ends();
  EXPECT_FALSE(runs(pid));
  worker_pool.await_starts();
  auto ahead = worker_pool.take(options(2));
  ahead->await_start();
  EXPECT_TRUE(ahead->alive());
}

TEST_F(WorkerPoolTest, NoProcessIsLeftBehind) {
  int ended = 0;
  {
    WorkerPool gone;
    auto worker = gone.take(options(1));
    worker->await_start();
    ended = worker->pid();
    gone.start(options(2));
    gone.end(std::move(worker));
  }
  EXPECT_FALSE(runs(ended));
}

struct CheckWorkersTest : WorkerPoolTest {
  // Of the worker that is taken, after it has answered; `keep` gives it to the next one.
  static int pid_of(CheckWorkers& workers, bool keep) {
    CheckWorkers::Lease lease = workers.take();
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
  CheckWorkers workers(options(1), 2, 1, worker_pool);
  const int first = pid_of(workers, true);
  EXPECT_EQ(pid_of(workers, true), first);
  EXPECT_EQ(pid_of(workers, true), first);
}

TEST_F(CheckWorkersTest, OneThatFailedServesNobodyAndAnotherTakesItsPlace) {
  CheckWorkers workers(options(1), 2, 1, worker_pool);
  const int first = pid_of(workers, false);
  const int second = pid_of(workers, true);
  EXPECT_NE(first, second);
  worker_pool.clear();
  EXPECT_FALSE(runs(first));
  {
    CheckWorkers::Lease dead = workers.take();
    (*dead).stop();
    dead.keep();
  }
  EXPECT_EQ(pid_of(workers, true), 0) << "none is left, and nobody waits for ever";
}

TEST_F(CheckWorkersTest, TheFreshOneOfThePoolServesFirst) {
  auto fresh = std::make_unique<Worker>(options(3));
  const int pid = fresh->pid();
  worker_pool.keep(std::move(fresh));
  CheckWorkers workers(options(1), 1, 1, worker_pool);
  EXPECT_EQ(pid_of(workers, true), pid);
}

TEST_F(CheckWorkersTest, NothingIsLeftOfAPoolThatWasCleared) {
  auto kept = std::make_unique<Worker>(options(3));
  auto ending = std::make_unique<Worker>(options(4));
  const std::array<int, 2> pids = {kept->pid(), ending->pid()};
  worker_pool.keep(std::move(kept));
  worker_pool.end(std::move(ending));
  worker_pool.clear();
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

const std::string kBuilt =
    "\x7f"
    "ELF code=A names=1";

TEST(LoadedCode, AFileThatChangedAfterTheBuildIsNotLoaded) {
  const TemporaryFolder folder("apo-object");
  Build build{.object_path = (folder.path() / "variant.cubin").string(), .object_hash = sha256(kBuilt)};
  build.plan.launches = {{.kernel = "k"}};
  write_file_atomically(build.object_path, kBuilt);
  EXPECT_FALSE(check_object(build));
  write_file_atomically(build.object_path, kBuilt + " ");
  const auto failure = check_object(build);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::faulted);
  EXPECT_NE(failure->evidence.find("is not what was built"), std::string::npos) << failure->evidence;
}

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

TEST(DrawnTogether, IsWhatAThirdOfTheMemoryHoldsAndOneSetInAnyCase) {
  EXPECT_EQ(drawn_together(kGigabyte, 128 * kGigabyte), 5U);
  EXPECT_EQ(drawn_together(kGigabyte, 16 * kGigabyte), 1U);
  EXPECT_EQ(drawn_together(100 * kGigabyte, kGigabyte), 1U);
  EXPECT_GT(drawn_together(0, kGigabyte), 1'000'000U) << "what is small is bounded by the threads alone";
}

// x[n] and y[n], of which x is memory that a call updates where `in_place`.
Family two_tensors(bool in_place) {
  const auto shape = [](const Axes& axes) { return std::vector<std::int64_t>{axes.at("n")}; };
  const TensorSpec x{.name = "x", .dtype = DType::f32, .role = Role::input, .shape = shape, .in_place = in_place};
  TensorSpec y = x;
  y.role = Role::output;
  y.name = in_place ? "x" : "y";
  Family family;
  family.tensors = {x, y};
  return family;
}

TEST(CallsInSample, TheTensorsDecideTheFormOfColdCallsAndNoMeasurementUpToTwoMilliseconds) {
  const Family copy = two_tensors(false);
  const Axes small = {{"n", 32 << 20}};  // 256 MiB of both
  const Axes large = {{"n", (32 << 20) + 1}};
  for (const double ns : {30e3, 49.9e3, 50.1e3, 390e3, 410e3, 1.9e6}) {
    EXPECT_EQ(calls_in_sample(copy, small, ns, CachePolicy::cold, 400e3), std::max(2.0, std::ceil(400e3 / ns))) << ns;
    EXPECT_EQ(calls_in_sample(copy, large, ns, CachePolicy::cold, 400e3), 1) << ns;
    EXPECT_GE(calls_in_sample(copy, large, ns, CachePolicy::warm, 400e3), 2) << ns;
  }
  EXPECT_EQ(calls_in_sample(copy, small, 2e6, CachePolicy::cold, 400e3), 1);
}

TEST(CallsInSample, HasAnEndAndTakesNoTimeThatIsNone) {
  EXPECT_EQ(calls_in_sample(two_tensors(false), {{"n", 1}}, 1e-3, CachePolicy::cold, 400e3), 1'000'000);
  EXPECT_EQ(calls_in_sample(two_tensors(true), {{"n", 1}}, 1e-3, CachePolicy::cold, 400e3), kMostImages);
  EXPECT_THROW(calls_in_sample(two_tensors(false), {{"n", 1}}, 0, CachePolicy::cold), UserError);
  EXPECT_THROW(calls_in_sample(two_tensors(false), {{"n", 1}}, std::nan(""), CachePolicy::warm), UserError);
}

}  // namespace

}  // namespace apo
