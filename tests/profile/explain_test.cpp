// tests/profile/explain_test.cpp - differences of made-up profiles, with their times worked out by hand.
#include "harness/profile/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace apo {
namespace {

Profile profile(double ms, const std::vector<std::pair<std::string, double>>& metrics) {
  Profile made{.time_ns = 1e6 * ms};
  for (const auto& [name, value] : metrics) {
    made.metrics.push_back({.name = name, .value = value});
  }
  return made;
}

const Difference* find(const Explanation& explanation, const std::string& name) {
  const auto found = std::find_if(explanation.differences.begin(), explanation.differences.end(),
                                  [&](const Difference& one) { return one.name == name; });
  return found == explanation.differences.end() ? nullptr : &*found;
}

// 10 ms with 41 % in barriers are 4.1 ms there; 6 ms with 3 % are 0.18 ms.
TEST(Explain, RanksStallsByTheTimeThatTheyAccountFor) {
  const Profile a = profile(10, {{"stall_barrier", 0.41}, {"stall_wait", 0.29}, {"stall_selected", 0.3}});
  const Profile b = profile(6, {{"stall_barrier", 0.03}, {"stall_wait", 0.47}, {"stall_selected", 0.5}});
  const Explanation explained = explain(a, b, {}, {});
  ASSERT_FALSE(explained.differences.empty());
  EXPECT_EQ(explained.differences.front().name, "stall_barrier");
  EXPECT_NEAR(explained.differences.front().accounts_ns, 3.92e6, 1);
  EXPECT_EQ(explained.differences.front().words, "barrier stalls 41 % -> 3 % of the warps' time");
  EXPECT_NE(explained.sentence.find("10 ms -> 6 ms a call, 4 ms less; "), std::string::npos) << explained.sentence;
}

// A: 6 + 3 + 1 ms. B: 2 + 3 ms, and 0.5 ms of its own.
TEST(Explain, LaunchesOfOneKernelArePairedAndTheOthersToldTogether) {
  const auto with_launches = [](double ms, const std::vector<std::pair<std::string, double>>& launches) {
    Profile made = profile(ms, {});
    for (const auto& [kernel, launch_ms] : launches) {
      made.launches.push_back({.kernel = kernel, .time_ns = 1e6 * launch_ms});
    }
    return made;
  };
  const Profile a = with_launches(10, {{"sum", 6}, {"sum", 3}, {"fill", 1}});
  const Profile b = with_launches(5.5, {{"sum", 2}, {"copy", 0.5}, {"sum", 3}});
  const Explanation explained = explain(a, b, {}, {});
  ASSERT_EQ(explained.differences.size(), 2U) << "the second sum takes as long in both";
  EXPECT_EQ(explained.differences[0].words, "launch 1 of sum 6 ms -> 2 ms");
  EXPECT_NEAR(explained.differences[0].accounts_ns, 4e6, 1);
  EXPECT_EQ(explained.differences[1].words, "launches of one alone: A's fill, 1 ms; B's copy, 500 us");
  EXPECT_NEAR(explained.differences[1].accounts_ns, 0.5e6, 1);
  EXPECT_TRUE(explain(with_launches(10, {{"sum", 6}}), with_launches(5, {{"sum", 2}}), {}, {}).differences.empty())
      << "a single launch is the call";
}

TEST(Explain, TimesWhoseIntervalsOverlapMayBeNoise) {
  const auto timed = [](double ms, double lower_ms, double upper_ms) {
    Profile made = profile(ms, {{"time", 1e6 * ms}});
    made.metrics.front().lower = 1e6 * lower_ms;
    made.metrics.front().upper = 1e6 * upper_ms;
    return made;
  };
  EXPECT_NE(explain(timed(10, 8, 12), timed(9, 8.5, 9.5), {}, {}).sentence.find("it may be noise"), std::string::npos);
  EXPECT_EQ(explain(timed(10, 9.6, 12), timed(9, 8.5, 9.5), {}, {}).sentence.find("noise"), std::string::npos);
}

TEST(Explain, BarrierStallsAreToldWithTheBarriersOfAStepOrElseOfACall) {
  Profile a = profile(10, {{"stall_barrier", 0.41}, {"stall_selected", 0.59}, {"barriers_per_warp", 2440}});
  Profile b = profile(6, {{"stall_barrier", 0.03}, {"stall_selected", 0.97}, {"barriers_per_warp", 576}});
  EXPECT_EQ(find(explain(a, b, {}, {}), "stall_barrier")->words,
            "barrier stalls 41 % -> 3 % of the warps' time; 2440 -> 576 barriers a call");
  a.metrics.push_back({.name = "barriers_per_step", .value = 6.1});
  b.metrics.push_back({.name = "barriers_per_step", .value = 0.9});
  EXPECT_EQ(find(explain(a, b, {}, {}), "stall_barrier")->words,
            "barrier stalls 41 % -> 3 % of the warps' time; 6.1 -> 0.9 barriers a step");
  EXPECT_EQ(find(explain(a, b, {}, {}), "barriers_per_step")->words,
            "barriers that a warp passes in a step 6.1 -> 0.9");
}

TEST(Explain, SharesAndStatesAreWordsThatPeopleSay) {
  const Profile a = profile(10, {{"stall_dispatch_stall", 0.5}, {"stall_selected", 0.5}, {"dram_utilisation", 1}});
  const Profile b = profile(5, {{"stall_dispatch_stall", 0.2}, {"stall_selected", 0.8}, {"dram_utilisation", 0.5}});
  EXPECT_EQ(find(explain(a, b, {}, {}), "stall_dispatch_stall")->words,
            "dispatch stalls 50 % -> 20 % of the warps' time");
  EXPECT_EQ(find(explain(a, b, {}, {}), "dram_utilisation")->words, "DRAM busy 100 % -> 50 % of the time");
}

TEST(Explain, StatesAddUpToTheWholeDifference) {
  const Profile a = profile(10, {{"stall_barrier", 0.4}, {"stall_wait", 0.3}, {"stall_selected", 0.3}});
  const Profile b = profile(5, {{"stall_wait", 0.2}, {"stall_selected", 0.4}, {"stall_membar", 0.4}});
  double sum = 0;
  for (const Difference& one : explain(a, b, {}, {}).differences) {
    sum += one.accounts_ns;
  }
  EXPECT_NEAR(sum, 5e6, 1) << "a state that one of them never saw counts too";
}

TEST(Explain, WhatSpeaksAgainstTheDifferenceComesBehindIt) {
  const Profile a = profile(10, {{"stall_barrier", 0.5}, {"stall_wait", 0.1}, {"stall_selected", 0.4}});
  const Profile b = profile(8, {{"stall_barrier", 0.0}, {"stall_wait", 0.5}, {"stall_selected", 0.5}});
  const auto differences = explain(a, b, {}, {}).differences;
  EXPECT_EQ(differences.front().name, "stall_barrier");
  EXPECT_EQ(differences.back().name, "stall_wait");
  EXPECT_NEAR(differences.back().accounts_ns, -3e6, 1);
}

TEST(Explain, ASlowerVariantIsExplainedByWhatItSpendsMore) {
  const Profile a = profile(5, {{"dram_utilisation", 0.2}});
  const Profile b = profile(10, {{"dram_utilisation", 0.6}});
  const Explanation explained = explain(a, b, {}, {});
  EXPECT_NEAR(explained.differences.front().accounts_ns, -5e6, 1);
  EXPECT_NE(explained.sentence.find("5 ms more; at most 5 ms of it: DRAM busy 20 % -> 60 %"), std::string::npos)
      << explained.sentence;
}

// 91.5 us of idle SMs before and 83.2 us after are less, of a time that is much less itself.
TEST(Explain, AShareThatRoseIsNoReasonForATimeThatFell) {
  const Profile a = profile(0.176, {{"idle_share", 0.52}, {"pipe_fp32", 0.4}});
  const Profile b = profile(0.084, {{"idle_share", 0.99}, {"pipe_fp32", 0.2}});
  const Explanation explained = explain(a, b, {}, {});
  ASSERT_TRUE(find(explained, "idle_share"));
  EXPECT_FALSE(find(explained, "idle_share")->in_time) << "it only differs";
  EXPECT_EQ(find(explained, "idle_share")->words, "SMs idle in the last round of blocks 52 % -> 99 % of the time");
  EXPECT_EQ(explained.differences.front().name, "pipe_fp32");
  EXPECT_TRUE(explained.differences.front().at_most);
}

// 2.8 % of 100 us are 2.8 us; 21 % of 60 us are 12.6 us: the pipe does more, which is no cost.
TEST(Explain, AUnitThatIsUsedMoreInLessTimeIsNoCost) {
  const Explanation explained =
      explain(profile(0.1, {{"pipe_special", 0.028}}), profile(0.06, {{"pipe_special", 0.21}}), {}, {});
  ASSERT_TRUE(find(explained, "pipe_special"));
  EXPECT_FALSE(find(explained, "pipe_special")->in_time);
  EXPECT_NE(explained.sentence.find("no counter that both profiles have accounts for it"), std::string::npos)
      << explained.sentence;
}

// And in more time it is no relief that it is used less.
TEST(Explain, AUnitThatIsUsedLessIsNoReasonForATimeThatRose) {
  const Explanation explained =
      explain(profile(5, {{"dram_utilisation", 0.9}}), profile(10, {{"dram_utilisation", 0.1}}), {}, {});
  EXPECT_FALSE(find(explained, "dram_utilisation")->in_time);
}

// 10 ms of DRAM before and 0.5 ms after are more than the 5 ms that there are to explain.
TEST(Explain, AUnitAccountsForNoMoreThanTheDifference) {
  const Explanation explained =
      explain(profile(10, {{"dram_utilisation", 1}}), profile(5, {{"dram_utilisation", 0.1}}), {}, {});
  EXPECT_NEAR(explained.differences.front().accounts_ns, 5e6, 1);
}

TEST(Explain, PartsOfTheTimeComeBeforeWhatOverlapsWithThem) {
  const Profile a =
      profile(10, {{"stall_barrier", 0.4}, {"stall_wait", 0.1}, {"stall_selected", 0.5}, {"dram_utilisation", 0.9}});
  const Profile b =
      profile(6, {{"stall_barrier", 0.1}, {"stall_wait", 0.4}, {"stall_selected", 0.5}, {"dram_utilisation", 0.1}});
  std::vector<std::string> order;
  for (const Difference& one : explain(a, b, {}, {}).differences) {
    order.push_back(one.name);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"stall_barrier", "stall_selected", "dram_utilisation", "stall_wait"}));
}

TEST(Explain, ComparesOnlyWhatBothHave) {
  const Profile a = profile(10, {{"stall_barrier", 0.5}, {"stall_selected", 0.5}, {"dram_utilisation", 0.5}});
  const Explanation explained = explain(a, profile(5, {}), {{"registers", 64}}, {});
  EXPECT_TRUE(explained.differences.empty());
  EXPECT_NE(explained.sentence.find("no counter that both profiles have"), std::string::npos) << explained.sentence;
}

TEST(Explain, ResourcesAndQuantitiesThatDifferAreNamedWithoutATime) {
  const Explanation explained = explain(profile(10, {{"bytes_moved", 1 << 20}, {"occupancy", 0.5}}),
                                        profile(5, {{"bytes_moved", 1 << 21}, {"occupancy", 0.51}}),
                                        {{"registers", 64}, {"text_bytes", 100}, {"spill_bytes", 0}},
                                        {{"registers", 210}, {"text_bytes", 101}, {"spill_bytes", 0}});
  ASSERT_EQ(explained.differences.size(), 2U) << "a change of a few percent is none";
  EXPECT_EQ(find(explained, "registers")->words, "registers 64 -> 210");
  EXPECT_EQ(find(explained, "bytes_moved")->words, "bytes moved by DRAM 1.00 MiB -> 2.00 MiB");
  EXPECT_FALSE(find(explained, "registers")->in_time);
}

// Where a machine has no counters, the machine code is what there is to compare.
TEST(Explain, LoopsThatWereVectorisedAreNamed) {
  const Explanation explained =
      explain(profile(237, {{"vector_share", 0}}), profile(28, {{"vector_share", 0.5652}}), {}, {});
  ASSERT_NE(find(explained, "vector_share"), nullptr);
  EXPECT_EQ(find(explained, "vector_share")->words,
            "vectors among the floating-point instructions of the innermost loops 0 -> 0.565");
}

TEST(Explain, InstructionsOfTheHostCountAtTheRateOfTheFirst) {
  const Explanation explained =
      explain(profile(10, {{"instructions", 1000}}), profile(6, {{"instructions", 700}}), {}, {});
  ASSERT_TRUE(find(explained, "instructions"));
  EXPECT_NEAR(find(explained, "instructions")->accounts_ns, 3e6, 1);
}

TEST(Explain, EqualTimesLeaveLittleToExplain) {
  EXPECT_NE(explain(profile(10, {}), profile(10, {}), {}, {}).sentence.find("little to explain"), std::string::npos);
}

}  // namespace
}  // namespace apo
