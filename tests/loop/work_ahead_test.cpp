// tests/loop/work_ahead_test.cpp - when the next candidate is built and checked, what becomes of its failures, and
// that nothing of it stays behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <mutex>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/loop/experiment.h"
#include "harness/loop/trial/registration.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Gates = std::vector<GateResult>;

const Configuration kNext{.variant = "copy/next", .settings = {}};
const Configuration kOther{.variant = "copy/other", .settings = {}};

// A builder and a checker that say what they did. The check waits until the candidate before it is judged.
struct FakeSteps {
  std::mutex mutex;
  std::vector<std::string> order;
  std::promise<void> built;
  std::promise<void> judged;
  std::shared_future<void> is_judged = judged.get_future().share();

  void note(const std::string& what) {
    const std::lock_guard lock(mutex);
    order.push_back(what);
  }
  AheadSteps of(const Configuration& candidate) {
    AheadSteps steps;
    steps.build = [this, label = candidate.label()] {
      note("build " + label);
      built.set_value();
    };
    steps.check = [this, label = candidate.label()](const std::stop_token&) {
      is_judged.wait();
      note("check " + label);
      return Gates{{.gate = "executor", .outcome = Outcome::incorrect, .evidence = "a race"}};
    };
    return steps;
  }
};

TEST(WorkAhead, TheNextCandidateIsBuiltWhileTheOneBeforeIsJudged) {
  FakeSteps fake;
  WorkAhead ahead([&](const Configuration& candidate) { return fake.of(candidate); });
  ahead.expect(kNext);
  EXPECT_TRUE(fake.order.empty()) << "its timing has not begun";
  ahead.begin();
  fake.built.get_future().wait();
  fake.note("judged the one before");
  fake.judged.set_value();
  const auto gates = ahead.take(kNext);
  ASSERT_TRUE(gates);
  EXPECT_EQ(gates->at(0).evidence, "a race");
  EXPECT_EQ(fake.order, (std::vector<std::string>{"build copy/next", "judged the one before", "check copy/next"}));
  EXPECT_EQ(ahead.take(kNext), std::nullopt) << "asked for again, it is checked in its turn";
}

TEST(WorkAhead, OneCandidateAtATimeAndEachOnce) {
  FakeSteps fake;
  WorkAhead ahead([&](const Configuration& candidate) { return fake.of(candidate); });
  ahead.expect(kNext);
  ahead.begin();
  ahead.begin();
  ahead.expect(kOther);
  ahead.begin();
  EXPECT_EQ(ahead.take(kOther), std::nullopt) << "the first one is under way";
  fake.judged.set_value();
  EXPECT_TRUE(ahead.take(kNext));
  EXPECT_EQ(fake.order, (std::vector<std::string>{"build copy/next", "check copy/next"}));
}

TEST(WorkAhead, OnAHostNothingIsBegunBecauseItTimesOnItsIdleCores) {
  EXPECT_FALSE(has_idle_cores(Target::host, 64));
  EXPECT_FALSE(has_idle_cores(Target::cuda, 4)) << "the executor takes up to six";
  EXPECT_TRUE(has_idle_cores(Target::cuda, 16));
  WorkAhead none({});
  none.expect(kNext);
  none.begin();
  EXPECT_EQ(none.take(kNext), std::nullopt);
}

TEST(WorkAhead, ABuildThatFailsAheadIsLeftToItsTurnAndAnErrorOfTheCheckComesOut) {
  WorkAhead ahead([&](const Configuration&) {
    return AheadSteps{.build = [] { throw EnvironmentError("no compiler"); },
                      .check = [](const std::stop_token&) -> Gates { throw EnvironmentError("no executor"); }};
  });
  ahead.expect(kNext);
  ahead.begin();
  EXPECT_THROW(ahead.take(kNext), EnvironmentError);
}

TEST(WorkAhead, AFailureAheadReadsAsTheSameFailureInTurn) {
  const TemporaryFolder folder;
  const Paths paths = make_paths((folder.path() / "journal.db").string());
  Variant broken = Workspace(paths).catalogue().get("copy/cuda_simple");
  broken.name = "broken";
  broken.source = replace_all(broken.source, "void copy_elements(", "void other_elements(");  // not what it launches
  broken.source_hash = "of broken";
  const Gates in_turn = executor_gates(paths, broken);
  WorkAhead work([&](const Configuration&) {
    return AheadSteps{.build = [] {},
                      .check = [&](const std::stop_token& stop) { return executor_gates(paths, broken, stop); }};
  });
  work.expect(kNext);
  work.begin();
  const auto ahead = work.take(kNext);
  ASSERT_TRUE(ahead);
  ASSERT_EQ(ahead->size(), in_turn.size());
  ASSERT_NE(in_turn.back().outcome, Outcome::valid);
  const auto without_seed = [](const std::string& evidence) { return evidence.substr(0, evidence.find("; seed ")); };
  EXPECT_EQ(ahead->back().gate, in_turn.back().gate);
  EXPECT_EQ(ahead->back().outcome, in_turn.back().outcome);
  EXPECT_EQ(without_seed(ahead->back().evidence), without_seed(in_turn.back().evidence));
}

// Sleeps longer than any test, unless it is stopped.
Gates sleep_as_check(const std::stop_token& stop) {
  run_process({"sleep", "100000"}, {.timeout_s = 100000, .stop = stop});
  return {};
}

TEST(WorkAhead, AStopCancelsTheCheckThatIsTaken) {
  WorkAhead ahead([](const Configuration&) { return AheadSteps{.build = [] {}, .check = sleep_as_check}; });
  ahead.expect(kNext);
  ahead.begin();
  ASSERT_TRUE(testing::comes_about([] { return testing::has_child_with("sleep 100000"); }));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(ahead.take(kNext, stop.get_token()), Cancelled);
  EXPECT_FALSE(testing::has_child_with("sleep 100000"));
  EXPECT_EQ(ahead.take(kNext), std::nullopt);
}

TEST(WorkAhead, WhatNobodyTakesIsCancelledAtTheEnd) {
  {
    WorkAhead ahead([](const Configuration&) { return AheadSteps{.build = [] {}, .check = sleep_as_check}; });
    ahead.expect(kNext);
    ahead.begin();
    ASSERT_TRUE(testing::comes_about([] { return testing::has_child_with("sleep 100000"); }));
  }
  EXPECT_FALSE(testing::has_child_with("sleep 100000"));
}

TEST(WorkAhead, ACancelledCheckLeavesNoCompilerAndNoHalfOfABuild) {
  const TemporaryFolder folder;
  const Paths paths = make_paths((folder.path() / "journal.db").string());
  Variant variant = Workspace(paths).catalogue().get("copy/cuda_simple");
  variant.name = "new";
  variant.source_hash = "of new";
  BackgroundGates gates([&](const std::stop_token& stop) { return executor_gates(paths, variant, stop); });
  const auto compiles = [] { return testing::has_child_with("-fsanitize=thread"); };
  ASSERT_TRUE(testing::comes_about(compiles));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(gates.take(stop.get_token()), Cancelled);
  EXPECT_FALSE(compiles());
  for (const auto& entry : std::filesystem::directory_iterator(paths.builds)) {
    EXPECT_EQ(entry.path().filename(), "turns");
  }
}

// How often a process sleeps for this long, which no other does.
int sleepers(const std::string& seconds) {
  int found = 0;
  for (const int pid : testing::all_processes()) {
    found += testing::process_file(pid, "cmdline") == std::string("sleep\0", 6) + seconds + '\0' ? 1 : 0;
  }
  return found;
}

TEST(WorkAhead, AKilledCampaignLeavesNoCompilerBehind) {
  const std::string seconds = std::to_string(100000 + getpid());
  const int campaign = fork();
  if (campaign == 0) {
    WorkAhead ahead([&](const Configuration&) {
      return AheadSteps{.build = [&] { run_process({"sleep", seconds}); }, .check = {}};
    });
    ahead.expect(kNext);
    ahead.begin();
    pause();
    _exit(1);
  }
  const bool sleeps = testing::comes_about([&] { return sleepers(seconds) == 1; });
  kill(campaign, SIGKILL);
  ASSERT_EQ(waitpid(campaign, nullptr, 0), campaign);
  ASSERT_TRUE(sleeps);
  EXPECT_TRUE(testing::comes_about([&] { return sleepers(seconds) == 0; })) << "it stays behind";
}

}  // namespace
}  // namespace apo
