// tests/evaluate/rounds/windows_test.cpp - host code runs in windows only, each call on inputs that its process has
// never seen.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <sched.h>
#include <algorithm>

#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/arm_process.h"
#include "harness/evaluate/rounds/host_session.h"
#include "harness/evaluate/rounds/runner.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo::testing {
namespace {

struct Windows : ::testing::Test {
  TimedArm arm_of(const std::string& variant) const {
    const Configuration configuration{variant, {}};
    return {configuration, copy.runtime().build(configuration, workload.axes, false)};
  }
  std::unique_ptr<ArmProcess> start(const TimedArm& arm, int calls) {
    auto process = std::make_unique<ArmProcess>(copy.runtime(), arm, workload.axes, std::vector<int>{}, 5, memory);
    const auto loaded = process->load();
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.failure().evidence);
    EXPECT_TRUE(process->attach(calls, 7));
    return process;
  }
  std::vector<CheckedPointer> inputs(std::size_t count) {
    pool.draw(count);
    std::vector<CheckedPointer> drawn;
    for (std::size_t i = 0; i < count; ++i) {
      drawn.push_back(pool[i]);
    }
    return drawn;
  }

  CopyRuntime copy;
  const Workload& workload = *find_workload(copy.family(), "n4k");
  InputPool pool{copy.runtime(), workload, 3};
  std::shared_ptr<MemoryFile> memory = std::make_shared<MemoryFile>();
};

TEST_F(Windows, HaveACallOnEachOfTheirInputsAndNoOther) {
  const TimedArm arm = arm_of("copy/once");
  const auto process = start(arm, 5);
  const auto five = inputs(5);
  const auto times = process->window(five, CachePolicy::cold);
  ASSERT_TRUE(times) << times.failure().evidence;
  EXPECT_GT(times->ns, 0);
  EXPECT_GT(times->cpu_ns, 0);
  for (int call = 0; call < 5; ++call) {
    EXPECT_FALSE(process->inspect(call, *five[static_cast<std::size_t>(call)], 1)) << call;
  }
  EXPECT_TRUE(process->inspect(0, *five[1], 1)) << "outputs of other inputs are wrong";
  EXPECT_FALSE(process->inspect_process());
}

TEST_F(Windows, OfNoCallTakeTheHandOverAlone) {
  const TimedArm arm = arm_of("copy/sixteen_times");
  const auto process = start(arm, 0);
  EXPECT_TRUE(process->window({}, CachePolicy::warm));
}

TEST_F(Windows, OutputsThatAreNotWrittenAreFound) {
  const TimedArm arm = arm_of("copy/unwritten_output");
  const auto process = start(arm, 2);
  const auto two = inputs(2);
  ASSERT_TRUE(process->window(two, CachePolicy::warm));
  const auto wrong = process->inspect(1, *two[1], 1);
  ASSERT_TRUE(wrong);
  EXPECT_NE(wrong->evidence.find("nan"), std::string::npos) << wrong->evidence;
}

TEST_F(Windows, AProcessThatContinuesBetweenThemIsFoundEvenIfItStopsAgain) {
  const TimedArm arm = arm_of("copy/once");
  for (const bool stops_again : {false, true}) {
    const auto process = start(arm, 1);
    const auto one = inputs(1);
    ASSERT_TRUE(process->window(one, CachePolicy::warm));
    kill(process->worker().pid(), SIGCONT);
    if (stops_again) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      kill(process->worker().pid(), SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto times = process->window(one, CachePolicy::warm);
    ASSERT_FALSE(times);
    EXPECT_EQ(times.failure().outcome, Outcome::faulted);
    EXPECT_EQ(times.failure().evidence, "ran between its windows, where it was stopped");
  }
}

TEST_F(Windows, ACrashInOneIsTheCandidates) {
  const TimedArm arm = arm_of("copy/abort");
  const auto process = start(arm, 1);
  const auto times = process->window(inputs(1), CachePolicy::warm);
  ASSERT_FALSE(times);
  EXPECT_NE(times.failure().evidence.find("SIGABRT"), std::string::npos) << times.failure().evidence;
}

TEST_F(Windows, ARoundHasInputsForAllOfItsWindows) {
  const EvaluatePlan plan = copy.plan();
  TimedWorkload timed{.name = "n4k", .axes = workload.axes, .pool = pool};
  timed.incumbent = arm_of("copy/once");
  timed.candidate = arm_of("copy/sixteen_times");
  RoundRunner runner(copy.runtime(), {timed}, plan.preset, 5, "windows", plan.cache, {});
  const auto round = runner.run(RoundStage::search, 0);
  ASSERT_TRUE(round) << round.failure().evidence;
  const WindowPlan windows = runner.windows().front();
  EXPECT_EQ(round->workloads[0].repetitions, windows.calls);
  EXPECT_EQ(std::ssize(round->workloads[0].blocks), windows.blocks);
  EXPECT_GE(pool.size(), static_cast<std::size_t>(windows.calls * 2 * (1 + windows.blocks)));
  EXPECT_GT(round->environment.empty_window_ns.value_or(0), 0);
  std::set<const CheckedInputs*> distinct;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    distinct.insert(pool[i].get());
  }
  EXPECT_EQ(distinct.size(), pool.size());
}

TEST_F(Windows, DISABLED_Noise) {
  const char* e = getenv("CALLS");
  const int calls = e ? atoi(e) : 128;
  const std::string mode = getenv("MODE") ? getenv("MODE") : "free";
  const CachePolicy cache = getenv("WARM") ? CachePolicy::warm : CachePolicy::cold;
  const TimedArm arm = arm_of(getenv("VARIANT") ? getenv("VARIANT") : "copy/once");
  for (int process_index = 0; process_index < 3; ++process_index) {
    auto process = std::make_unique<ArmProcess>(copy.runtime(), arm, workload.axes, std::vector<int>{1}, static_cast<std::uint64_t>(5 + process_index), memory);
    ASSERT_TRUE(process->load());
    ASSERT_TRUE(process->attach(calls, static_cast<std::uint64_t>(7 + process_index)));
    cpu_set_t set; CPU_ZERO(&set);
    if (mode == "same") CPU_SET(1, &set);
    else if (mode == "other") CPU_SET(0, &set);
    else { CPU_SET(0, &set); CPU_SET(1, &set); }
    sched_setaffinity(0, sizeof set, &set);
    std::vector<CheckedPointer> in = inputs(static_cast<std::size_t>(std::max(calls, 1)));
    in.resize(static_cast<std::size_t>(calls));
    std::vector<double> ns, cpu;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 60; ++i) {
      const auto t = process->window(in, cache);
      ASSERT_TRUE(t);
      ns.push_back(double(t->ns)); cpu.push_back(double(t->cpu_ns));
    }
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::sort(ns.begin() + 2, ns.end()); std::sort(cpu.begin() + 2, cpu.end());
    printf("%s calls %d: first %.0f second %.0f | min %.1f p25 %.1f median %.1f p75 %.1f p95 %.1f us; cpu median %.1f; %.2f ms a window\n", mode.c_str(), calls, ns[0]/1e3, ns[1]/1e3,
      ns[2] / 1e3, ns[16] / 1e3, ns[30] / 1e3, ns[45] / 1e3, ns[56] / 1e3, cpu[30] / 1e3, all / 60 * 1e3);
  }
}

TEST(WindowCalls, FillAWindowWithinTheBytesThatArePossible) {
  EXPECT_EQ(calls_in_window(0.003, 12e6, 1000, CachePolicy::cold), 1);
  EXPECT_EQ(calls_in_window(0.003, 1e6, 1000, CachePolicy::cold), 3);
  EXPECT_EQ(calls_in_window(0.003, 100, 1000, CachePolicy::cold), 128);
  EXPECT_EQ(calls_in_window(0.003, 1e5, std::int64_t{4} << 20, CachePolicy::cold), 2);
  EXPECT_EQ(calls_in_window(0.003, 1e5, std::int64_t{4} << 20, CachePolicy::warm), 1) << "more would not stay warm";
  EXPECT_EQ(calls_in_window(0.003, 1e5, std::int64_t{1} << 40, CachePolicy::cold), 1);
}

}  // namespace
}  // namespace apo::testing
