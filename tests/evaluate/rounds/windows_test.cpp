// tests/evaluate/rounds/windows_test.cpp - host code runs in windows only, each call on inputs that its process has
// never seen.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>
#include <utility>

#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/host_rounds.h"
#include "harness/evaluate/rounds/host_session.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/evaluate/windows/arm_process.h"
#include "tests/evaluate/runtime_fixture.h"
#include "tests/text.h"

namespace apo::testing {
namespace {

struct Windows : ::testing::Test {
  TimedArm arm_of(const std::string& variant) const {
    const Configuration configuration{variant, {}};
    return {configuration, copy.runtime().build(configuration, workload.axes, false)};
  }
  std::unique_ptr<ArmProcess> start(const TimedArm& arm, int calls) {
    auto process = std::make_unique<ArmProcess>(copy.runtime(), arm, workload.axes, std::vector<int>{}, 5);
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
  CallFindings findings;
};

TEST_F(Windows, HaveACallOnEachOfTheirInputsAndNoOther) {
  const TimedArm arm = arm_of("copy/once");
  const auto process = start(arm, 5);
  const auto five = inputs(5);
  const auto times = process->window(five, CachePolicy::cold);
  ASSERT_TRUE(times) << times.failure().evidence;
  EXPECT_GT(times->ns, 0);
  for (std::int64_t cpu_ns = times->cpu_ns; cpu_ns == 0;) {  // a machine's account may leave a short window out
    const auto again = process->window(five, CachePolicy::cold);
    ASSERT_TRUE(again) << again.failure().evidence;
    cpu_ns += again->cpu_ns;
  }
  for (int call = 0; call < 5; ++call) {
    EXPECT_FALSE(process->inspect(call, *five[static_cast<std::size_t>(call)], "arm", findings)) << call;
  }
  EXPECT_TRUE(process->inspect(0, *five[1], "arm", findings)) << "outputs of other inputs are wrong";
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
  const auto wrong = process->inspect(1, *two[1], "arm", findings);
  ASSERT_TRUE(wrong);
  expect_contains(wrong->evidence, "never written");
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
  expect_contains(times.failure().evidence, "SIGABRT");
}

TEST_F(Windows, TheTypicalErrorsOfTheirPoolAreThoseOfAllUnitsThatAGateComputes) {
  Family family = copy.family();
  std::vector<std::int64_t> fewest;
  family.expected = [&](const Axes& axes, const StoredTensors& of, const Asked& asked) {
    fewest.push_back(asked.patience.fewest_units);
    return copy.family().expected(axes, of, asked);
  };
  Runtime runtime = copy.runtime();
  runtime.family = &family;
  runtime.inputs = std::make_shared<InputStore>();
  const InputPool of_family(runtime, workload, 3);
  of_family.draw(1);
  static_cast<void>(of_family.typical());
  EXPECT_EQ(fewest, std::vector<std::int64_t>{Patience().fewest_units});
  EXPECT_EQ(of_family[0],
            runtime.inputs->get(family, workload, derive_seed(3, workload.name, 0), family.regimes.front(), 1))
      << "drawn once";
}

TEST_F(Windows, OfLargeTensorsEndLaterWhereTheirWorkTakesPlainCodeLong) {
  Family family = copy.family();
  family.work = [](const Axes&) { return Work{.flops = 1e10}; };
  Runtime runtime = copy.runtime();
  runtime.family = &family;
  EXPECT_EQ(deadline_of(runtime, workload.axes), runtime.worker.deadline);
  EXPECT_GE(deadline_of(runtime, find_workload(family, "n1m")->axes),
            runtime.worker.deadline + std::chrono::seconds(20));
}

TEST_F(Windows, ARoundHasInputsOfItsOwnForAllOfItsWindows) {
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
  EXPECT_GT(round->environment.empty_window_ns.value_or(0), 0);
  std::set<TensorBytes> distinct;
  for (const std::uint64_t seed : {1U, 2U}) {
    for (const CheckedPointer& one : pool.of_round(windows.inputs(), seed)) {
      distinct.insert(whole_bytes(copy.family(), one->inputs));
    }
  }
  EXPECT_EQ(distinct.size(), static_cast<std::size_t>(2 * windows.calls * 2 * (1 + windows.blocks)));
}

std::vector<WindowTimes> windows_of(std::int64_t ns, const std::vector<std::int64_t>& cpu_ns) {
  std::vector<WindowTimes> windows;
  for (const std::int64_t one : cpu_ns) {
    windows.push_back({.ns = ns, .cpu_ns = one});
  }
  return windows;
}

struct LongCalls : Windows {
  LongCalls() { plan.preset.long_round_s = 1e-9; }  // any call that gets so far is long
  TimedWorkload of(const std::string& incumbent, const std::string& candidate) const {
    TimedWorkload timed{.name = "n1m", .axes = large.axes, .pool = InputPool(copy.runtime(), large, 3)};
    for (const auto& [arm, variant] : {std::pair(&timed.incumbent, incumbent), {&timed.candidate, candidate}}) {
      const Configuration configuration{variant, {}};
      *arm = {configuration, copy.runtime().build(configuration, large.axes, false)};
    }
    return timed;
  }
  const Workload& large = *find_workload(copy.family(), "n1m");
  EvaluatePlan plan = copy.plan();
};

TEST_F(LongCalls, ARoundHasTheFewestBlocksBehindOneCallOfEachArmThatIsNotTimed) {
  RoundRunner runner(copy.runtime(), {of("copy/sixteen_times", "copy/slow_first_call")}, plan.preset, 5, "long",
                     plan.cache, {});
  Judge judge({.preset = plan.preset});
  for (NextStep step = judge.next(); step.index < 2; step = judge.next()) {
    const auto round = runner.run(step.stage, step.index);
    ASSERT_TRUE(round) << round.failure().evidence;
    EXPECT_EQ(std::ssize(round->workloads[0].blocks), plan.preset.window_blocks_min);
    EXPECT_TRUE(round->workloads[0].warmup.empty());
    EXPECT_GE(round->environment.start_wait_s.value_or(0), 0.3) << "no such call makes a round void";
    judge.add(*round);  // throws what it does not take
  }
  EXPECT_FALSE(runner.windows().front().warms_up);
  EXPECT_EQ(runner.windows().front().inputs(), 5U);
}

TEST_F(LongCalls, OfTheIncumbentAreSeenBesideACandidateThatDoesNothing) {
  const std::vector<TimedWorkload> timed = {of("copy/sixteen_times", "copy/unwritten_output")};
  const RoundCoins coins{.campaign_seed = 5, .comparison = "nothing"};
  const RoundOptions options;
  HostRounds rounds(copy.runtime(), timed, plan.preset, coins, plan.cache, options);
  const auto planned = rounds.plan(0);
  ASSERT_TRUE(planned) << planned.failure().evidence;
  EXPECT_GE(planned->call_ns, kLongCallNs);
  EXPECT_FALSE(planned->warms_up) << "nothing asked whether the incumbent's calls are long, or use several CPUs";
}

TEST_F(LongCalls, ThatTurnOutShortAreVoidAndPlannedAgainOnceAndForAll) {
  const std::vector<TimedWorkload> timed = {of("copy/sixteen_times", "copy/sixteen_times")};
  const RoundOptions options;
  const RoundCoins coins{.campaign_seed = 5, .comparison = "short"};
  HostRounds rounds(copy.runtime(), timed, plan.preset, coins, plan.cache, options);
  const auto take = [&](int index) {
    Round round{.stage = RoundStage::search, .index = index};
    round.seed = round_seed(coins.campaign_seed, coins.comparison, round.stage, index);
    rounds.begin_round(round.stage);
    EXPECT_TRUE(rounds.plan(0));
    const auto measured = rounds.measure(0, round, 7);
    rounds.end_round();
    EXPECT_TRUE(measured);
    round.workloads = {measured ? *measured : RoundWorkload()};
    return round;
  };
  EXPECT_EQ(void_reason(take(0), {}, plan.preset), "");
  plan.preset.long_round_s = INFINITY;  // as if a burst had been over
  EXPECT_EQ(void_reason(take(1), {}, plan.preset), "calls of n1m turned out too short for a round of so few");
  EXPECT_FALSE(rounds.plans().front().warms_up) << "that of the rounds so far, until there is another";
  plan.preset.long_round_s = 1e-9;
  const Round again = take(2);
  EXPECT_FALSE(again.workloads.front().warmup.empty());
  EXPECT_EQ(void_reason(again, {}, plan.preset), "");
  EXPECT_TRUE(rounds.plans().front().warms_up);
}

TEST(LongRounds, AreThoseOfAnIncumbentWhoseLeastCallIsLongWhateverTheCandidateTakes) {
  constexpr std::int64_t kMs = 1'000'000;
  const JudgePreset preset = standard_preset();
  const auto is_long = [&](std::vector<std::int64_t> incumbent_ms, std::int64_t candidate_ms, bool may_be_long = true) {
    std::vector<WindowTimes> incumbent;
    for (const std::int64_t ms : incumbent_ms) {
      incumbent.push_back({.ns = ms * kMs, .cpu_ns = ms * kMs});
    }
    const auto candidate = windows_of(candidate_ms * kMs, {candidate_ms * kMs, candidate_ms * kMs});
    return !plan_of_single_calls(preset, {}, incumbent, candidate, may_be_long).warms_up;
  };
  EXPECT_FALSE(is_long({333, 333}, 333));  // six of these are two seconds
  EXPECT_TRUE(is_long({334, 334}, 1));
  EXPECT_FALSE(is_long({1, 1}, 60'000)) << "a candidate would choose how many of its calls are seen";
  EXPECT_FALSE(is_long({60'000, 1}, 1)) << "a burst";
  EXPECT_FALSE(is_long({334, 334}, 334, false));
}

TEST(LongRounds, AreVoidWhereTheIncumbentsLeastCallTurnsOutShort) {
  const auto is_void = [](std::int64_t incumbent_ms, std::int64_t candidate_ms) {
    Round round;
    round.environment.empty_window_ns = 2e4;
    const std::int64_t once = incumbent_ms * 1'000'000;
    const std::int64_t slot1 = candidate_ms * 1'000'000;
    round.workloads = {{.workload = "w", .blocks = {{.samples = {{0, 9 * once}, {1, slot1}, {1, slot1}, {0, once}}}}}};
    return !void_reason(round, {}, standard_preset()).empty();
  };
  EXPECT_TRUE(is_void(166, 9'000));
  EXPECT_FALSE(is_void(167, 1));
}

TEST(WindowCalls, FillAWindowWithinTheBytesThatArePossible) {
  EXPECT_EQ(calls_in_window(0.00015, 12e-3, 1000, CachePolicy::cold), 1);
  EXPECT_EQ(calls_in_window(0.00015, 1e-4, 1000, CachePolicy::cold), 2);
  EXPECT_EQ(calls_in_window(0.00015, 1e-7, 1000, CachePolicy::cold), 512);
  EXPECT_EQ(calls_in_window(0.00015, 1e-5, std::int64_t{4} << 20, CachePolicy::cold), 2);
  EXPECT_EQ(calls_in_window(0.00015, 1e-5, std::int64_t{4} << 20, CachePolicy::warm), 1) << "more would not stay warm";
  EXPECT_EQ(calls_in_window(0.00015, 1e-5, std::int64_t{1} << 40, CachePolicy::cold), 1);
}

TEST(SeveralCpus, AreUsedByThreadsThatWorkBesideEachOther) {
  EXPECT_TRUE(uses_several_cpus(windows_of(110'000, std::vector<std::int64_t>(12, 210'000))));
  EXPECT_TRUE(uses_several_cpus(windows_of(12'000'000, std::vector<std::int64_t>(3, 20'000'000))));
}

TEST(SeveralCpus, AreUsedByAnyLongWindowButTheFirstOfAProcess) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  EXPECT_TRUE(uses_several_cpus(windows_of(kSecond, {kSecond, 2 * kSecond})));
  EXPECT_TRUE(uses_several_cpus(windows_of(kSecond, {kSecond, kSecond, 2 * kSecond, kSecond, kSecond, kSecond})));
  EXPECT_FALSE(uses_several_cpus(windows_of(kSecond, {4 * kSecond, kSecond}))) << "what it made once";
}

TEST(SeveralCpus, AreNotWhatAnInexactAccountOfShortWindowsShows) {
  // Most windows of 110 us have up to 75 us too much, some too little: the median alone says 1.6 CPUs.
  EXPECT_FALSE(uses_several_cpus(windows_of(110'000, {185'000, 180'000, 60'000, 180'000, 175'000, 50'000, 185'000,
                                                      180'000, 55'000, 180'000, 60'000, 170'000})));
  EXPECT_FALSE(uses_several_cpus(windows_of(110'000, std::vector<std::int64_t>(12, 185'000)))) << "a constant error";
  EXPECT_FALSE(uses_several_cpus(windows_of(12'000'000, std::vector<std::int64_t>(3, 12'075'000))));
}

TEST(WindowCalls, ARoundHasAsManyBlocksAsItsTimeAndItsInputsAllow) {
  const JudgePreset preset = standard_preset();
  EXPECT_EQ(blocks_in_round(preset, 8e-3, 1000), 10);
  EXPECT_EQ(blocks_in_round(preset, 1e-5, 1000), preset.window_blocks_max);
  EXPECT_EQ(blocks_in_round(preset, 1.0, 1000), preset.window_blocks_min);
  EXPECT_EQ(blocks_in_round(preset, 1e-5, std::int64_t{8} << 20), 4);
  EXPECT_EQ(blocks_in_round(preset, 1e-5, std::int64_t{1} << 40), preset.window_blocks_min);
}

}  // namespace
}  // namespace apo::testing
